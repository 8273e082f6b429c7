/// Senders that give up.
extension HistoryRule {
  static var ofGivingUp: [HistoryRule] {
    let timedOut = History(sends: [send(0, 0, 1, 2, .timedOut)])
    var tooEarly = timedOut.sends[0]
    tooEarly.isBeforeDeadline = true
    var cancelled = History(sends: [send(0, 0, 1, 2, .cancelled)])
    cancelled.sends[0].isTaskCancelled = true
    var neverCancelled = cancelled.sends[0]
    neverCancelled.isTaskCancelled = false
    return [
      HistoryRule(
        "a send does not time out before its deadline", timedOut,
        differing: { $0.sends[0].isBeforeDeadline = true }, is: .timedOutTooEarly(tooEarly)),
      HistoryRule(
        "a send is cancelled only with its task", cancelled,
        differing: { $0.sends[0].isTaskCancelled = false }, is: .untruthfulCancelled(neverCancelled)),
    ]
  }
}
