/// One owner at a time.
extension HistoryChecker {
  /// No two turns overlap, each is on one thread, and each reception is inside a turn of its own thread. Where that is
  /// promised, all turns are on the same one.
  func wrongTurns(_ turns: [History.Turn], _ receptions: [History.Reception]) -> [Violation] {
    let turns = turns.sorted { $0.begin < $1.begin }
    var found: [Violation] = []
    // Compared with the turn that ends last, which is not always the previous one.
    var longest: History.Turn?
    for turn in turns {
      if let longest, turn.begin <= longest.end { found.append(.overlap(longest, turn)) }
      if turn.end > longest?.end ?? 0 { longest = turn }
    }
    found += turns.filter { $0.firstThread ?? $0.thread != $0.thread }.map { .changedThread($0) }
    for reception in receptions where !turns.hasOne(around: reception) {
      found.append(.outsideOfTurns(reception.element))
    }
    if hasOneThread, let first = turns.first {
      found += turns.filter { $0.thread != first.thread }.map { .onAnotherThread($0) }
    }
    return found
  }
}

extension [History.Turn] {
  /// Whether the reception is inside one of these turns, which must not overlap, and be in the order of their
  /// beginnings.
  fileprivate func hasOne(around reception: History.Reception) -> Bool {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].begin > reception.time { high = middle } else { low = middle + 1 }
    }
    guard low > 0 else { return false }
    let turn = self[low - 1]
    return reception.time <= turn.end && reception.thread == turn.thread
  }
}

/// Closing: which sends are refused, what is discarded, and when it is over.
extension HistoryChecker {
  /// - Refused as closed: not before a call to close began.
  /// - Accepted: not if the send began after a closing had returned.
  /// - Discarded, though accepted: not before a call to close that discards began.
  /// - Received: not after a thread knew that everything had ended.
  func wrongClosing(_ history: History, _ accepted: [History.Send]) -> [Violation] {
    let firstBegin = history.closes.map(\.begin).min()
    let firstEnd = history.closes.map(\.end).min()
    let firstDiscard = history.closes.filter(\.discards).map(\.begin).min()
    var found: [Violation] = []
    for send in history.sends where send.outcome == .closed && send.end < firstBegin ?? .max {
      found.append(.untruthfulClosed(send))
    }
    for send in accepted where !send.isReentrant && send.begin > firstEnd ?? .max {
      found.append(.acceptedAfterClose(send))
    }
    for report in history.reports where report.reason == .closed && report.time < firstDiscard ?? .max {
      found.append(.discardedTooEarly(report.element))
    }
    for reception in history.receptions where reception.time > history.end ?? .max {
      found.append(.receivedAfterEnd(reception.element))
    }
    return found
  }
}
