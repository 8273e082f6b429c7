import Testing

/// Each rule of the checker on two histories that differ in one point.
@Suite struct HistoryRuleTests {
  @Test(arguments: HistoryRule.all)
  func `a history that just keeps a rule passes`(rule: HistoryRule) {
    #expect(rule.checker.violations(in: rule.good) == [])
  }

  @Test(arguments: HistoryRule.all)
  func `a history that just breaks it is found, and for that alone`(rule: HistoryRule) {
    let found = rule.checker.violations(in: rule.bad)
    #expect(Set(found.map(String.init(describing:))) == Set(rule.violations.map(String.init(describing:))))
    #expect(found.count == rule.violations.count)
  }

  @Test func `each rule has an example`() {
    let shown = Set(HistoryRule.all.flatMap(\.violations).map(\.rule))
    #expect(shown == HistoryChecker.Violation.rules)
  }

  @Test func `what is split by producers keeps each one's order and slots`() {
    var history = History(
      sends: [HistoryRule.send(0, 0, 1, 2), HistoryRule.send(1, 0, 3, 4), HistoryRule.send(1, 1, 5, 6)],
      receptions: [
        HistoryRule.reception(1, 0, at: 7), HistoryRule.reception(0, 0, at: 9),
        HistoryRule.reception(1, 1, at: 10),
      ])
    history.releases = [
      History.Release(time: 8, released: 1), History.Release(time: 11, released: 2),
      History.Release(time: 12, released: 3),
    ]
    let parts = history.byProducer
    #expect(parts.map { $0.sends.map(\.sequence) } == [[0], [0, 1]])
    #expect(parts.map { $0.receptions.map(\.time) } == [[9], [7, 10]])
    #expect(
      parts.map { $0.releases.map(\.time) } == [[11], [8, 12]], "only who got a slot back is told of it")
    #expect(parts.map { $0.releases.map(\.released) } == [[1], [1, 2]])
  }
}
