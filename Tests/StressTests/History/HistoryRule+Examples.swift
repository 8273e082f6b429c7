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
        "it is received after its send began, though maybe before that returned",
        History(sends: [send(0, 0, 2, 4)], receptions: [reception(0, 0, at: 3)]),
        differing: { $0.receptions[0].time = 1 }, is: .tooEarly(element(0, 0))),
      HistoryRule(
        "it is reported after its send began",
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
        "sends that overlap are received in either order; those that do not, in theirs", both,
        // The first one returns one moment before the other begins.
        differing: { $0.sends[1].begin = 4 },
        is: .overtaken(element(0, 0), by: element(1, 0))),
      HistoryRule(
        "a batch is received in one piece", batch, differing: { $0.receptions.swapAt(1, 2) },
        is: .tornBatch(element(0, 1))),
    ]
  }
}
