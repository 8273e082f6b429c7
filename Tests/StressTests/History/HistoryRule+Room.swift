/// Room: who is refused, and what gives way.
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
        "full is said if every slot is taken at some moment", full(), checker: ring,
        differing: tooEarly, is: .untruthfulFull(full().sends[2])),
      HistoryRule(
        "a policy that drops the newest does it if there is no room", full(.dropped), checker: ring,
        differing: tooEarly, is: .untruthfulFull(full(.dropped).sends[2])),
      HistoryRule(
        "who waits in vain has found no room at some moment", full(.timedOut), checker: ring,
        differing: tooEarly, is: .untruthfulFull(full(.timedOut).sends[2])),
      HistoryRule(
        "a batch is refused if a part of it does not fit", batch, checker: ring,
        differing: { $0.sends[1].count = 1 }, is: .untruthfulFull(send(1, 0, 3, 4, .full))),
      HistoryRule(
        "a send that begins during a refusal may have taken the last slot before it", late, checker: ring,
        // The refusal ends one moment before the other begins.
        differing: { $0.sends[2].end = 5 }, is: .untruthfulFull(send(1, 0, 4, 5, .full))),
      HistoryRule(
        "no more are inside than fit", three, checker: ring, differing: { $0.receptions[0].time = 8 },
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
    // Which of the first two is older cannot be told.
    let overlapping = History(
      sends: [send(0, 0, 1, 4), send(1, 0, 3, 5), send(1, 1, 6, 7)],
      receptions: [reception(0, 0, at: 10), reception(1, 1, at: 11)], reports: [report(1, 0, .dropped, at: 9)]
    )
    // Whoever pushes the first one out is held up before it says so, and meanwhile another comes.
    let heldUp = History(
      sends: [send(0, 0, 1, 2), send(0, 1, 3, 4), send(0, 2, 6, 7), send(1, 0, 5, 10)],
      receptions: [reception(0, 1, at: 8), reception(0, 2, at: 11), reception(1, 0, at: 12)],
      reports: [report(0, 0, .dropped, at: 9, since: 5)])
    return [
      HistoryRule(
        "what gives way during a send is outside from its beginning", heldUp,
        checker: HistoryChecker(capacity: 2), differing: { $0.reports[0].earliest = 8 },
        is: .overrun(by: 1, atEndOf: heldUp.sends[2])),
      HistoryRule(
        "an element gives way if there is one for which there is no room", pushed, checker: ring,
        differing: { $0.releases[0].time = 4 }, is: .untruthfulDrop(element(0, 0))),
      HistoryRule(
        "an element gives way to as many newer ones as fit", overlapping, checker: ring,
        differing: { $0.sends[0].end = 2 }, is: .droppedTooSoon(element(1, 0))),
    ]
  }
}
