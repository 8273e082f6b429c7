/// What follows for the number of elements inside. How many slots are taken at a time is not recorded; what
/// is recorded bounds it from both sides.
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
    let begins = Steps(accepted.map { ($0.begin, $0.count) })
    let releases = history.releases
    return history.sends.filter { $0.outcome == .full }.compactMap { refused in
      let during = begins.times(from: refused.begin, to: refused.end)
      let isExplained = ([refused.begin] + during).contains { time in
        let released = releases.last(before: time)?.released ?? 0
        return begins.sum(upTo: time) - released + refused.count > capacity
      }
      return isExplained ? nil : .untruthfulFull(refused)
    }
  }

  /// The other way round: (elements of sends that ended by t) - (elements received by t) is at most
  /// claimed(t) - released(t), so it may never exceed the capacity.
  func overruns(
    _ accepted: [History.Send], _ receptions: [History.Reception], _ capacity: Int
  ) -> [Violation] {
    let ends = Steps(accepted.map { ($0.end, $0.count) })
    let received = Steps(receptions.map { ($0.time, 1) })
    return accepted.compactMap { send in
      let surplus = ends.sum(upTo: send.end) - received.sum(upTo: send.end) - capacity
      return surplus > 0 ? .overrun(by: surplus, atEndOf: send) : nil
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

extension [History.Release] {
  fileprivate func last(before time: UInt64) -> History.Release? {
    let index = partition { $0.time > time }
    return index == 0 ? nil : self[index - 1]
  }
}

extension Array {
  /// The first index whose element satisfies `isBehind`, which all later ones do as well: a binary search.
  fileprivate func partition(where isBehind: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
