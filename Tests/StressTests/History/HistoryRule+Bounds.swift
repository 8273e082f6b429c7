/// Memory beside the mailbox, what is counted, and turns.
extension HistoryRule {
  static var ofBounds: [HistoryRule] {
    // Two wait during the count, one may or may not, and one that was received is still in its slot.
    var counted = History(
      sends: [send(0, 0, 1, 2), send(0, 1, 3, 4), send(0, 2, 5, 6), send(1, 0, 10, 15)],
      receptions: [
        reception(0, 0, at: 7), reception(0, 1, at: 20), reception(0, 2, at: 21), reception(1, 0, at: 22),
      ])
    counted.counts = [History.Count(waiting: 4, begin: 9, end: 12)]
    let roomy = HistoryChecker(mostWaiting: 4)
    var fewest = counted
    fewest.counts[0].waiting = 1
    var released = counted
    released.releases = [History.Release(time: 8, released: 1)]
    released.counts[0].waiting = 3
    var own = released
    own.releases = []
    own.sends[0].isReentrant = true
    var turns = History(
      sends: (0..<4).map { send(0, $0, UInt64(2 * $0 + 1), UInt64(2 * $0 + 2)) },
      receptions: (0..<4).map { reception(0, $0, at: UInt64(10 + $0)) })
    for (index, turn) in [3, 3, 4, 4].enumerated() { turns.receptions[index].turn = turn }
    // One is in the ring, and two that turns have sent are beside it.
    var beside = History(
      sends: [send(0, 0, 1, 2), send(1, 0, 3, 4), send(2, 0, 5, 6)],
      receptions: [reception(0, 0, at: 7), reception(1, 0, at: 8), reception(2, 0, at: 9)])
    beside.sends[1].isFromTurn = true
    beside.sends[2].isFromTurn = true
    return [
      HistoryRule(
        "what no turn has sent never takes the place of what turns send", beside,
        checker: HistoryChecker(capacity: 1, mostInside: 3, mostOfOthers: 1),
        differing: { $0.sends[2].isFromTurn = false }, is: .overrun(by: 1, atEndOf: send(2, 0, 5, 6))),
      HistoryRule(
        "no more wait than all limits together", counted, checker: roomy,
        differing: { $0.counts[0].waiting = 5 },
        is: .tooManyWaiting(History.Count(waiting: 5, begin: 9, end: 12))),
      HistoryRule(
        "all that wait are counted, but for one that is about to be processed", fewest, checker: roomy,
        differing: { $0.counts[0].waiting = 0 },
        is: .miscounted(History.Count(waiting: 0, begin: 9, end: 12))),
      HistoryRule(
        "what was released before is not counted", released, checker: roomy,
        differing: { $0.counts[0].waiting = 4 },
        is: .miscounted(History.Count(waiting: 4, begin: 9, end: 12))),
      HistoryRule(
        "what the owner had sent to itself, and received, is not counted", own, checker: roomy,
        differing: { $0.counts[0].waiting = 4 },
        is: .miscounted(History.Count(waiting: 4, begin: 9, end: 12))),
      HistoryRule(
        "what is sent after a count is not in it", counted, checker: roomy,
        differing: { $0.sends[3].begin = 13 },
        is: .miscounted(History.Count(waiting: 4, begin: 9, end: 12))),
      HistoryRule(
        "a turn has no more elements than its limit", turns, checker: HistoryChecker(turnLimit: 2),
        differing: { $0.receptions[2].turn = 3 }, is: .longTurn(3, of: 3)),
    ]
  }
}
