/// A rule of the checker with two histories that differ in one point: one that just keeps the rule, and one that just
/// breaks it.
struct HistoryRule: Sendable, CustomStringConvertible {
  let description: String
  let checker: HistoryChecker
  let good: History
  let bad: History
  /// The only violation that the checker must find in the bad history.
  let violations: [HistoryChecker.Violation]

  /// - Parameter differing: Makes the bad history by changing one thing in the good one.
  init(
    _ description: String, _ good: History, checker: HistoryChecker = HistoryChecker(),
    differing: (inout History) -> Void, is violations: HistoryChecker.Violation...
  ) {
    self.description = description
    self.checker = checker
    self.good = good
    var bad = good
    differing(&bad)
    self.bad = bad
    self.violations = violations
  }

  static var all: [HistoryRule] {
    ofElements + ofOrder + ofRoom + ofDrops + ofGivingUp + ofLimits + ofBounds + ofTurns + ofClosing
  }

  // Helpers to write the examples.

  static func send(
    _ producer: Int, _ sequence: Int, _ begin: UInt64, _ end: UInt64, count: Int = 1,
    _ outcome: History.Send.Outcome = .accepted
  ) -> History.Send {
    History.Send(
      producer: producer, sequence: sequence, count: count, begin: begin, end: end, outcome: outcome)
  }

  static func element(_ producer: Int, _ sequence: Int) -> History.ElementID {
    History.ElementID(producer: producer, sequence: sequence)
  }

  static func reception(
    _ producer: Int, _ sequence: Int, at time: UInt64, on thread: UInt = 0
  ) -> History.Reception {
    History.Reception(element: element(producer, sequence), time: time, thread: thread)
  }

  static func report(
    _ producer: Int, _ sequence: Int, _ reason: History.Report.Reason, at time: UInt64,
    since earliest: UInt64? = nil
  ) -> History.Report {
    History.Report(element: element(producer, sequence), reason: reason, time: time, earliest: earliest)
  }
}

extension HistoryChecker.Violation {
  /// Its name without its associated values.
  var rule: String { String("\(self)".prefix { $0 != "(" }) }

  /// All rules. A test checks that each has an example.
  static let rules: Set<String> = [
    "lost", "duplicated", "reportedTwice", "receivedAndReported", "unknown", "tooEarly", "reordered",
    "overtaken", "tornBatch", "untruthfulFull", "untruthfulDrop", "droppedTooSoon", "overrun",
    "untruthfulLimit", "tooManyWaiting", "miscounted", "timedOutTooEarly", "untruthfulCancelled", "longTurn",
    "overlap", "changedThread", "outsideOfTurns", "onAnotherThread", "untruthfulClosed", "acceptedAfterClose",
    "discardedTooEarly",
    "receivedAfterEnd",
  ]
}

/// Nothing lost, nothing twice, nothing from nowhere; and the order.
extension HistoryRule {
  static var ofElements: [HistoryRule] {
    let one = History(sends: [send(0, 0, 1, 2)], receptions: [reception(0, 0, at: 3)])
    let told = History(sends: [send(0, 0, 1, 2)], reports: [report(0, 0, .dropped, at: 3)])
    return [
      HistoryRule(
        "what was accepted is received", one, differing: { $0.receptions.removeLast() },
        is: .lost(element(0, 0))),
      HistoryRule(
        "what is not received is reported", told, differing: { $0.reports.removeLast() },
        is: .lost(element(0, 0))),
      HistoryRule(
        "it is received once", one, differing: { $0.receptions.append(reception(0, 0, at: 4)) },
        is: .duplicated(element(0, 0))),
      HistoryRule(
        "it is reported once", told, differing: { $0.reports.append(report(0, 0, .dropped, at: 4)) },
        is: .reportedTwice(element(0, 0))),
      HistoryRule(
        "it is either received or reported", one,
        differing: { $0.reports.append(report(0, 0, .dropped, at: 4)) },
        is: .receivedAndReported(element(0, 0))),
      HistoryRule(
        "what is received was accepted", one, differing: { $0.sends[0].outcome = .full },
        is: .unknown(element(0, 0))),
      HistoryRule(
        "what is reported was accepted", told, differing: { $0.sends[0].outcome = .dropped },
        is: .unknown(element(0, 0))),
      HistoryRule(
        "an element is received after its send began, maybe before the send returned",
        History(sends: [send(0, 0, 2, 4)], receptions: [reception(0, 0, at: 3)]),
        differing: { $0.receptions[0].time = 1 }, is: .tooEarly(element(0, 0))),
      HistoryRule(
        "an element is reported after its send began",
        History(sends: [send(0, 0, 2, 4)], reports: [report(0, 0, .dropped, at: 3)]),
        differing: { $0.reports[0].time = 1 }, is: .tooEarly(element(0, 0))),
    ]
  }

  static var ofOrder: [HistoryRule] {
    // The two sends overlap, as those of one producer cannot: then only the producer's order is at stake.
    let own = History(
      sends: [send(0, 0, 1, 4), send(0, 1, 3, 5)],
      receptions: [reception(0, 0, at: 6), reception(0, 1, at: 7)])
    let both = History(
      sends: [send(0, 0, 1, 3), send(1, 0, 2, 5)],
      receptions: [reception(1, 0, at: 5), reception(0, 0, at: 6)])
    let batch = History(
      sends: [send(0, 0, 1, 4, count: 2), send(1, 0, 2, 3)],
      receptions: [reception(0, 0, at: 5), reception(0, 1, at: 6), reception(1, 0, at: 7)])
    return [
      HistoryRule(
        "one producer's elements keep their order", own, differing: { $0.receptions.swapAt(0, 1) },
        is: .reordered(element(0, 0), after: element(0, 1))),
      HistoryRule(
        "sends that overlap are received in either order, others in the order of the sends", both,
        // The first one returns one moment before the other begins.
        differing: { $0.sends[1].begin = 4 },
        is: .overtaken(element(0, 0), by: element(1, 0))),
      HistoryRule(
        "a batch is received in one piece", batch, differing: { $0.receptions.swapAt(1, 2) },
        is: .tornBatch(element(0, 1))),
    ]
  }
}

/// Room: which sends are refused, and which elements give way.
extension HistoryRule {
  /// Two elements in a ring of two, and a refusal from 6 to 9. One slot is given back in the middle of that.
  private static func full(_ outcome: History.Send.Outcome = .full) -> History {
    History(
      sends: [send(0, 0, 1, 2), send(0, 1, 3, 4), send(1, 0, 6, 9, outcome)],
      receptions: [reception(0, 0, at: 5), reception(0, 1, at: 20)],
      releases: [History.Release(time: 7, released: 1)])
  }

  static var ofRoom: [HistoryRule] {
    let ring = HistoryChecker(capacity: 2)
    let batch = History(
      sends: [send(0, 0, 1, 2), send(1, 0, 3, 4, count: 2, .full)], receptions: [reception(0, 0, at: 5)])
    let late = History(
      sends: [send(0, 0, 1, 2), send(0, 1, 6, 8), send(1, 0, 4, 7, .full)],
      receptions: [reception(0, 0, at: 20), reception(0, 1, at: 21)])
    let three = History(
      sends: [send(0, 0, 1, 2), send(0, 1, 3, 4), send(1, 0, 5, 7)],
      receptions: [reception(0, 0, at: 6), reception(0, 1, at: 20), reception(1, 0, at: 21)])
    // The slot is given back before the refusal begins.
    let tooEarly: (inout History) -> Void = { $0.releases[0].time = 5 }
    return [
      HistoryRule(
        "a send finds the ring full only if every slot is taken at some moment", full(), checker: ring,
        differing: tooEarly, is: .untruthfulFull(full().sends[2])),
      HistoryRule(
        "a policy that drops the newest does so only if there is no room", full(.dropped), checker: ring,
        differing: tooEarly, is: .untruthfulFull(full(.dropped).sends[2])),
      HistoryRule(
        "a send that times out has found no room at some moment", full(.timedOut), checker: ring,
        differing: tooEarly, is: .untruthfulFull(full(.timedOut).sends[2])),
      HistoryRule(
        "a batch is refused if a part of it does not fit", batch, checker: ring,
        differing: { $0.sends[1].count = 1 }, is: .untruthfulFull(send(1, 0, 3, 4, .full))),
      HistoryRule(
        "a send that begins during a refusal may have taken the last slot before it", late, checker: ring,
        // The refusal ends one moment before the other begins.
        differing: { $0.sends[2].end = 5 }, is: .untruthfulFull(send(1, 0, 4, 5, .full))),
      HistoryRule(
        "no more elements are inside than fit", three, checker: ring,
        differing: { $0.receptions[0].time = 8 },
        is: .overrun(by: 1, atEndOf: three.sends[2])),
    ]
  }

  static var ofDrops: [HistoryRule] {
    // The oldest of three gives way to the newest, in a ring of two with others beside it.
    let ring = HistoryChecker(capacity: 2, mostInside: 6)
    let pushed = History(
      sends: [send(0, 0, 1, 2), send(0, 1, 3, 4), send(0, 2, 5, 6)],
      receptions: [reception(0, 1, at: 10), reception(0, 2, at: 11)],
      reports: [report(0, 0, .dropped, at: 9)],
      releases: [History.Release(time: 7, released: 1)])
    // It is unknown which of the first two is older.
    let overlapping = History(
      sends: [send(0, 0, 1, 4), send(1, 0, 3, 5), send(1, 1, 6, 7)],
      receptions: [reception(0, 0, at: 10), reception(1, 1, at: 11)], reports: [report(1, 0, .dropped, at: 9)]
    )
    // The thread that pushes the first one out is delayed before it reports it, and meanwhile another one comes.
    let heldUp = History(
      sends: [send(0, 0, 1, 2), send(0, 1, 3, 4), send(0, 2, 6, 7), send(1, 0, 5, 10)],
      receptions: [reception(0, 1, at: 8), reception(0, 2, at: 11), reception(1, 0, at: 12)],
      reports: [report(0, 0, .dropped, at: 9, since: 5)])
    return [
      HistoryRule(
        "an element that gives way during a send counts as gone since the send began", heldUp,
        checker: HistoryChecker(capacity: 2), differing: { $0.reports[0].earliest = 8 },
        is: .overrun(by: 1, atEndOf: heldUp.sends[2])),
      HistoryRule(
        "an element gives way only if there is no room for another one", pushed, checker: ring,
        differing: { $0.releases[0].time = 4 }, is: .untruthfulDrop(element(0, 0))),
      HistoryRule(
        "an element gives way to as many newer ones as fit", overlapping, checker: ring,
        differing: { $0.sends[0].end = 2 }, is: .droppedTooSoon(element(1, 0))),
    ]
  }
}

/// What turns send, and its limits.
extension HistoryRule {
  private static func reentrant(
    _ sequence: Int, _ begin: UInt64, _ end: UInt64, _ outcome: History.Send.Outcome = .accepted
  ) -> History.Send {
    var send = send(9, sequence, begin, end, outcome)
    send.isReentrant = true
    return send
  }

  static var ofLimits: [HistoryRule] {
    // One is being processed, one waits, and a third one is refused. Then the first one is received.
    let own = History(
      sends: [reentrant(0, 1, 2), reentrant(1, 3, 4), reentrant(2, 5, 6, .overLimit), reentrant(3, 8, 9)],
      receptions: [reception(9, 0, at: 7), reception(9, 1, at: 10), reception(9, 3, at: 11)])
    var refusedInATurn = send(1, 0, 5, 6, .overLimit)
    var inATurn = send(0, 0, 1, 2)
    refusedInATurn.isFromTurn = true
    inATurn.isFromTurn = true
    let others = History(
      sends: [inATurn, send(2, 0, 3, 4), refusedInATurn],
      receptions: [reception(0, 0, at: 10), reception(2, 0, at: 11)])
    let limited = HistoryChecker(reentrantCapacity: 1)
    return [
      HistoryRule(
        "of the owner's own elements no more wait than the limit says", own, checker: limited,
        differing: { $0.receptions[0].time = 10 }, is: .overrun(by: 1, atEndOf: own.sends[3])),
      HistoryRule(
        "the owner's own element is refused only at the limit", own, checker: limited,
        differing: {
          $0.receptions = [
            reception(9, 0, at: 3), reception(9, 1, at: 4), reception(9, 3, at: 11),
          ]
        }, is: .untruthfulLimit(own.sends[2])),
      HistoryRule(
        "where others count as the owner's own, they explain the refusal of one",
        History(
          sends: [send(0, 0, 1, 2), reentrant(0, 3, 4, .overLimit)], receptions: [reception(0, 0, at: 5)]),
        checker: HistoryChecker(reentrantCapacity: 1, countsOthersAsOwn: true),
        differing: { $0.receptions[0].time = 3 }, is: .untruthfulLimit(reentrant(0, 3, 4, .overLimit))),
      HistoryRule(
        "what a turn sends is refused only if as many wait that turns have sent", others, checker: limited,
        differing: { $0.sends[0].isFromTurn = false }, is: .untruthfulLimit(refusedInATurn)),
    ]
  }
}

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
    var moved = turn(8, 10, on: 2)
    moved.firstThread = 1
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
        "where turns are recorded, an element received outside of them is a violation", loop,
        differing: { $0.turns = [] }, is: .outsideOfTurns(element(0, 0))),
      HistoryRule(
        "a turn ends on the thread on which it began", turns, differing: { $0.turns?[1].firstThread = 1 },
        is: .changedThread(moved)),
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
        "a send is refused as closed only after a call to close has begun", closed,
        differing: { $0.sends[2].end = 2 },
        is: .untruthfulClosed(send(1, 0, 1, 2, .closed))),
      HistoryRule(
        "a send is refused as closed only if there is a call to close", closed, differing: { $0.closes = [] },
        is: .untruthfulClosed(send(1, 0, 1, 8, .closed))),
      HistoryRule(
        "no element is accepted whose send begins after the call to close has returned", closed,
        differing: { $0.sends[1].begin = 6 }, is: .acceptedAfterClose(send(0, 1, 6, 7))),
      HistoryRule(
        "nothing is discarded if the call to close keeps what is inside", discarded,
        differing: { $0.closes[0].discards = false }, is: .discardedTooEarly(element(0, 0))),
      HistoryRule(
        "nothing is discarded before a call that discards has begun", overruled,
        differing: { $0.closes[1].begin = 7 }, is: .discardedTooEarly(element(0, 0))),
      HistoryRule(
        "nothing is received after the end", closed, differing: { $0.end = 10 },
        is: .receivedAfterEnd(element(0, 1))),
    ]
  }
}
