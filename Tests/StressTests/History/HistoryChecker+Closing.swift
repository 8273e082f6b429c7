/// Closing: who is refused, what is thrown away, and when it is over.
extension HistoryChecker {
  /// - Refused as closed: not before somebody began to close.
  /// - Accepted: not if the send began after a closing had returned.
  /// - Thrown away, though accepted: not before somebody began to close who wanted that.
  /// - Received: not after somebody was told that all is over.
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
