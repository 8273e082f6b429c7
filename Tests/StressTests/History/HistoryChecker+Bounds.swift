/// What a reactor says of itself: how many elements wait, and how many a turn has taken.
extension HistoryChecker {
  /// An element waits during the whole of a count if its send had ended before, and it was received, or gave way, only
  /// afterwards. One of these may have been taken out to be processed; the others must have been counted.
  ///
  /// And only what was sent until the end of the count can be in it, without what was certainly released before.
  func wrongCounts(_ history: History, _ accepted: [History.Send], _ mostWaiting: Int) -> [Violation] {
    let fates = Dictionary(
      history.receptions.map { ($0.element, $0.time) }
        + history.reports.map { ($0.element, $0.earliest ?? $0.time) },
      uniquingKeysWith: min)
    let lives = accepted.flatMap { send in
      send.elements.map { (sent: send.end, gone: fates[$0] ?? .max) }
    }
    let own = sendOfElement(accepted.filter(\.isReentrant))
    let ownReceptions = history.receptions.filter { own[$0.element] != nil }
    return history.counts.compactMap { count in
      if count.waiting > mostWaiting { return .tooManyWaiting(count) }
      let least = lives.count { $0.sent < count.begin && $0.gone > count.end } - 1
      let sent = accepted.lazy.filter { $0.begin < count.end }.reduce(0) { $0 + $1.count }
      let released = history.releases.last { $0.time < count.begin }?.released ?? 0
      let most = sent - released - ownReceptions.count { $0.time < count.begin }
      return (least...max(least, most)).contains(count.waiting) ? nil : .miscounted(count)
    }
  }

  /// What the owner sends to itself counts as well.
  func longTurns(_ receptions: [History.Reception], _ limit: Int) -> [Violation] {
    let turns = Dictionary(grouping: receptions.compactMap(\.turn), by: \.self).mapValues(\.count)
    return turns.filter { $0.value > limit }.sorted { $0.key < $1.key }.map {
      .longTurn($0.key, of: $0.value)
    }
  }
}
