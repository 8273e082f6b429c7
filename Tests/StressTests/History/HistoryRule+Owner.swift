/// One owner at a time, and how it ends.
extension HistoryRule {
  private static func turn(_ begin: UInt64, _ end: UInt64, on thread: UInt) -> History.Turn {
    History.Turn(begin: begin, end: end, thread: thread)
  }

  static var ofTurns: [HistoryRule] {
    let turns = History(
      sends: [send(0, 0, 1, 2), send(0, 1, 3, 4)],
      receptions: [reception(0, 0, at: 6, on: 1), reception(0, 1, at: 9, on: 2)],
      turns: [turn(5, 7, on: 1), turn(8, 10, on: 2), turn(11, 12, on: 1)])
    let loop = History(
      sends: [send(0, 0, 1, 2)], receptions: [reception(0, 0, at: 6, on: 1)],
      turns: [turn(5, 7, on: 1), turn(8, 10, on: 1)])
    return [
      HistoryRule(
        "one turn ends before the next begins", turns, differing: { $0.turns?[0].end = 8 },
        is: .overlap(turn(5, 8, on: 1), turn(8, 10, on: 2))),
      HistoryRule(
        "a turn overlaps none of those before it, not only the last", turns,
        differing: { $0.turns?[0].end = 11 },
        is: .overlap(turn(5, 11, on: 1), turn(8, 10, on: 2)),
        .overlap(turn(5, 11, on: 1), turn(11, 12, on: 1))),
      HistoryRule(
        "an element is received after its turn has begun", turns, differing: { $0.turns?[1].begin = 10 },
        is: .outsideOfTurns(element(0, 1))),
      HistoryRule(
        "an element is received before its turn has ended", turns, differing: { $0.turns?[0].end = 5 },
        is: .outsideOfTurns(element(0, 0))),
      HistoryRule(
        "an element is received by the thread that has the turn", turns,
        differing: { $0.receptions[0].thread = 2 }, is: .outsideOfTurns(element(0, 0))),
      HistoryRule(
        "where turns are recorded, what is received without one is found", loop,
        differing: { $0.turns = [] }, is: .outsideOfTurns(element(0, 0))),
      HistoryRule(
        "a loop's turns are on one thread", loop, checker: HistoryChecker(hasOneThread: true),
        differing: { $0.turns?[1].thread = 2 }, is: .onAnotherThread(turn(8, 10, on: 2))),
    ]
  }

  static var ofClosing: [HistoryRule] {
    // One send returned before the closing began, one began before it returned, one is refused.
    let closed = History(
      sends: [send(0, 0, 1, 2), send(0, 1, 4, 7), send(1, 0, 1, 8, .closed)],
      receptions: [reception(0, 0, at: 10), reception(0, 1, at: 11)],
      closes: [History.Close(begin: 3, end: 5)], end: 12)
    let discarded = History(
      sends: [send(0, 0, 1, 2)], reports: [report(0, 0, .closed, at: 6)],
      closes: [History.Close(begin: 3, end: 5, discards: true)])
    // The one that keeps what is inside is overruled.
    let overruled = History(
      sends: [send(0, 0, 1, 2)], reports: [report(0, 0, .closed, at: 6)],
      closes: [History.Close(begin: 3, end: 4), History.Close(begin: 5, end: 8, discards: true)])
    return [
      HistoryRule(
        "closed is said after somebody has begun to close", closed, differing: { $0.sends[2].end = 2 },
        is: .untruthfulClosed(send(1, 0, 1, 2, .closed))),
      HistoryRule(
        "closed is said only if somebody closes", closed, differing: { $0.closes = [] },
        is: .untruthfulClosed(send(1, 0, 1, 8, .closed))),
      HistoryRule(
        "nothing is accepted whose send begins after the closing has returned", closed,
        differing: { $0.sends[1].begin = 6 }, is: .acceptedAfterClose(send(0, 1, 6, 7))),
      HistoryRule(
        "nothing is thrown away if what is inside is kept", discarded,
        differing: { $0.closes[0].discards = false }, is: .discardedTooEarly(element(0, 0))),
      HistoryRule(
        "nothing is thrown away before somebody has begun to ask for it", overruled,
        differing: { $0.closes[1].begin = 7 }, is: .discardedTooEarly(element(0, 0))),
      HistoryRule(
        "nothing is received after the end", closed, differing: { $0.end = 10 },
        is: .receivedAfterEnd(element(0, 1))),
    ]
  }
}
