/// The number of elements inside. How many slots are taken at a time is not recorded, but what is recorded bounds it
/// from both sides.
extension HistoryChecker {
  /// A refusal of n elements is truthful if at some moment t during it
  /// claimed(t) - released(t) + n > capacity.
  ///
  /// Necessary for that, and checked: at some time t during the refused send
  /// (elements of accepted sends that began by t) - (elements released for certain by t) + n > capacity.
  /// The first term is at least claimed(t), since a claim comes after its send's beginning; the second is at
  /// most released(t). It is the strongest condition that these times allow: the claims may all have been
  /// made right after the beginnings, and the releases right before they were noted down. Both terms only
  /// grow, so the difference can be largest only at the refused send's beginning, or where another begins.
  func untruthfulFulls(
    _ history: History, _ accepted: [History.Send], _ capacity: Int
  ) -> [Violation] {
    let inside = MostInside(accepted, history.releases)
    return history.sends.filter(\.foundNoRoom).compactMap { refused in
      let isExplained = inside.exceeds(capacity - refused.count, from: refused.begin, to: refused.end)
      return isExplained ? nil : .untruthfulFull(refused)
    }
  }

  /// An element that was accepted and gives way later does so because one more found no room: so at some time
  /// between its send and its report there were, itself and that one included, more than fit. And it is the
  /// oldest that gives way: at least as many as fit are newer, so that their sends began before the report,
  /// and had not returned before this one's began.
  func wrongDrops(
    _ history: History, _ accepted: [History.Send], _ sendOf: [History.ElementID: History.Send],
    _ capacity: Int
  ) -> [Violation] {
    let dropped = history.reports.filter { $0.reason == .dropped }
    if dropped.isEmpty { return [] }
    let inside = MostInside(accepted, history.releases)
    let begins = Steps(accepted.map { ($0.begin, $0.count) })
    let ends = Steps(accepted.map { ($0.end, $0.count) })
    var found: [Violation] = []
    for report in dropped {
      guard let send = sendOf[report.element] else { continue }
      if !inside.exceeds(capacity, from: send.begin, to: report.time) {
        found.append(.untruthfulDrop(report.element))
      }
      let newer = begins.sum(upTo: report.time) - ends.sum(upTo: send.begin) - send.count
      if newer < capacity { found.append(.droppedTooSoon(report.element)) }
    }
    return found
  }

  /// Conversely, elements whose sends had ended by t, and that had not been received or given way by t, are inside at
  /// t, and may never be more than fit. A thread that pushes an element out reports it a moment later, and may be
  /// delayed in between. So an element that is reported during a send counts as gone since that send's beginning.
  func overruns(_ history: History, _ accepted: [History.Send], _ mostInside: Int) -> [Violation] {
    let sendOf = sendOfElement(accepted)
    let ends = Steps(accepted.map { ($0.end, $0.count) })
    let fates =
      history.receptions.map { ($0.element, $0.time) }
      + history.reports.map { ($0.element, $0.earliest ?? $0.time) }
    // Not before the end of its own send, since it is not counted until then.
    let gone = Steps(
      fates.compactMap { element, time in
        guard let send = sendOf[element] else { return nil }
        return (max(time, send.end), 1)
      })
    return accepted.compactMap { send in
      let surplus = ends.sum(upTo: send.end) - gone.sum(upTo: send.end) - mostInside
      return surplus > 0 ? .overrun(by: surplus, atEndOf: send) : nil
    }
  }
}

/// What turns send has limits of its own, and takes no room.
extension HistoryChecker {
  /// Of what the owner sends to itself, no more than the limit waits. The one that is just being processed does not count,
  /// but it has not been received either, so there can be one more here.
  ///
  /// And a turn's send is refused because of the limit only if at some time during it
  /// (elements of the same kind whose sends began by then) - (those that were received by then) is at least the limit.
  func wrongLimits(_ history: History, _ accepted: [History.Send], _ limit: Int) -> [Violation] {
    let own = accepted.filter(\.isReentrant)
    return overruns(history, own, limit + 1)
      + untruthfulLimits(
        history.sends.filter(\.isReentrant), countsOthersAsOwn ? accepted : own, history, limit)
      + untruthfulLimits(
        history.sends.filter { !$0.isReentrant }, accepted.filter(\.isFromTurn), history, limit)
  }

  private func untruthfulLimits(
    _ sends: [History.Send], _ accepted: [History.Send], _ history: History, _ limit: Int
  ) -> [Violation] {
    let refused = sends.filter { $0.outcome == .overLimit }
    if refused.isEmpty { return [] }
    let sendOf = sendOfElement(accepted)
    let receptions = history.receptions.filter { sendOf[$0.element] != nil }
    let releases = receptions.enumerated().map { History.Release(time: $1.time, released: $0 + 1) }
    let inside = MostInside(accepted, releases)
    return refused.compactMap { send in
      inside.exceeds(limit - 1, from: send.begin, to: send.end) ? nil : .untruthfulLimit(send)
    }
  }
}

/// How many elements can have been inside at a time.
private struct MostInside {
  private let begins: Steps
  private let releases: [History.Release]

  init(_ accepted: [History.Send], _ releases: [History.Release]) {
    begins = Steps(accepted.map { ($0.begin, $0.count) })
    self.releases = releases
  }

  /// Whether it can have been more than that at some time.
  func exceeds(_ limit: Int, from first: UInt64, to last: UInt64) -> Bool {
    ([first] + begins.times(from: first, to: last)).contains { time in
      let index = releases.partition { $0.time > time }
      let released = index == 0 ? 0 : releases[index - 1].released
      return begins.sum(upTo: time) - released > limit
    }
  }
}

/// A number that grows in steps, as a function of time.
private struct Steps {
  private let steps: [(time: UInt64, total: Int)]

  init(_ steps: [(time: UInt64, by: Int)]) {
    var total = 0
    self.steps = steps.sorted { $0.time < $1.time }.map { step in
      total += step.by
      return (step.time, total)
    }
  }

  func sum(upTo time: UInt64) -> Int {
    let index = steps.partition { $0.time > time }
    return index == 0 ? 0 : steps[index - 1].total
  }

  func times(from first: UInt64, to last: UInt64) -> [UInt64] {
    steps[steps.partition { $0.time >= first }..<steps.partition { $0.time > last }].map(\.time)
  }
}

extension Array {
  /// Returns the first index whose element satisfies `isBehind`, by binary search. All later elements must satisfy
  /// it, too.
  func partition(where isBehind: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
