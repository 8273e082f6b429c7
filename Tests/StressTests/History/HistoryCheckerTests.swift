import TestSupport
import Testing

/// Hand-made histories, good and bad. A checker that finds nothing would pass every stress test.
@Suite struct HistoryCheckerTests {
  private typealias Send = History.Send

  private static func id(_ producer: Int, _ sequence: Int) -> History.ElementID {
    History.ElementID(producer: producer, sequence: sequence)
  }

  /// Returns receptions of these elements, later than everything else.
  private static func receptions(_ elements: [(Int, Int)], from time: UInt64 = 1000) -> [History.Reception] {
    elements.enumerated().map { index, element in
      History.Reception(element: id(element.0, element.1), time: time + UInt64(index))
    }
  }

  /// Producer 0 sends 0 and 1, and producer 1 sends 0 while 0's second send is under way.
  private static let sends = [
    Send(producer: 0, sequence: 0, begin: 1, end: 2),
    Send(producer: 0, sequence: 1, begin: 3, end: 6),
    Send(producer: 1, sequence: 0, begin: 4, end: 5),
  ]

  private static func violations(_ received: [(Int, Int)]) -> [HistoryChecker.Violation] {
    HistoryChecker().violations(in: History(sends: sends, receptions: receptions(received)))
  }

  @Test(arguments: [[(0, 0), (0, 1), (1, 0)], [(0, 0), (1, 0), (0, 1)]])
  func `sends that overlap may be received in either order`(order: [(Int, Int)]) {
    #expect(Self.violations(order) == [])
  }

  @Test func `a lost element is found`() {
    #expect(Self.violations([(0, 0), (1, 0)]) == [.lost(Self.id(0, 1))])
  }

  @Test func `an element received twice is found`() {
    #expect(Self.violations([(0, 0), (0, 1), (1, 0), (1, 0)]) == [.duplicated(Self.id(1, 0))])
  }

  @Test func `an element that nobody sent is found`() {
    #expect(Self.violations([(0, 0), (0, 1), (1, 0), (7, 3)]) == [.unknown(Self.id(7, 3))])
  }

  @Test func `an element whose send was refused counts as sent by nobody`() {
    var history = History(sends: Self.sends, receptions: Self.receptions([(0, 0), (0, 1), (1, 0)]))
    history.sends[2].outcome = .full
    #expect(HistoryChecker().violations(in: history) == [.unknown(Self.id(1, 0))])
  }

  @Test func `an element received before it was sent is found`() {
    let receptions = Self.receptions([(0, 0)], from: 0)
    let history = History(sends: [Self.sends[0]], receptions: receptions)
    #expect(HistoryChecker().violations(in: history) == [.tooEarly(Self.id(0, 0))])
  }

  @Test func `a producer's elements out of order are found`() {
    let found = Self.violations([(0, 1), (0, 0), (1, 0)])
    #expect(found.contains(.reordered(Self.id(0, 0), after: Self.id(0, 1))))
  }

  @Test func `a send that returned before another began must not be overtaken by it`() {
    #expect(Self.violations([(1, 0), (0, 0), (0, 1)]) == [.overtaken(Self.id(0, 0), by: Self.id(1, 0))])
  }

  @Test func `where only each producer's order is promised, overtaking is allowed`() {
    let history = History(sends: Self.sends, receptions: Self.receptions([(1, 0), (0, 0), (0, 1)]))
    #expect(HistoryChecker(keepsRealTimeOrder: false).violations(in: history) == [])
  }

  @Test func `a batch with something in between is found`() {
    let sends = [
      Send(producer: 0, sequence: 0, count: 2, begin: 1, end: 4),
      Send(producer: 1, sequence: 0, begin: 2, end: 3),
    ]
    let history = History(sends: sends, receptions: Self.receptions([(0, 0), (1, 0), (0, 1)]))
    #expect(HistoryChecker().violations(in: history) == [.tornBatch(Self.id(0, 1))])
  }

  // MARK: Capacity

  /// Two elements in a ring of two, and a refusal.
  private static let full = Send(producer: 1, sequence: 0, begin: 10, end: 11, outcome: .full)
  private static let twoSends = [
    Send(producer: 0, sequence: 0, begin: 1, end: 2), Send(producer: 0, sequence: 1, begin: 3, end: 4),
  ]

  private static func capacityViolations(
    capacity: Int = 2, full: Send = full, received: UInt64 = 1000, releases: [History.Release] = []
  ) -> [HistoryChecker.Violation] {
    let history = History(
      sends: twoSends + [full], receptions: receptions([(0, 0), (0, 1)], from: received),
      releases: releases)
    return HistoryChecker(capacity: capacity).violations(in: history)
  }

  @Test func `a refusal while every slot is taken is truthful`() {
    #expect(Self.capacityViolations() == [])
  }

  @Test func `a refusal while a slot is free is found`() {
    #expect(Self.capacityViolations(capacity: 4) == [.untruthfulFull(Self.full)])
  }

  @Test func `a refusal after a slot was released is found`() {
    let found = Self.capacityViolations(received: 5, releases: [History.Release(time: 7, released: 1)])
    #expect(found == [.untruthfulFull(Self.full)])
  }

  @Test func `a slot that was perhaps released too late explains a refusal`() {
    let found = Self.capacityViolations(received: 5, releases: [History.Release(time: 12, released: 1)])
    #expect(found == [])
  }

  @Test func `a send that perhaps took the last slot during the refusal explains it`() {
    var late = History(sends: Self.twoSends + [Self.full], receptions: Self.receptions([(0, 0), (0, 1)]))
    late.sends[1].begin = 11
    late.sends[1].end = 13
    late.sends[2].end = 12
    #expect(HistoryChecker(capacity: 2).violations(in: late) == [])
    late.sends[1].begin = 13
    late.sends[1].end = 14
    #expect(HistoryChecker(capacity: 2).violations(in: late) == [.untruthfulFull(late.sends[2])])
  }

  @Test func `a batch is refused truthfully if only a part of it fits`() {
    var batch = Self.full
    batch.count = 2
    #expect(Self.capacityViolations(capacity: 3, full: batch) == [])
    #expect(Self.capacityViolations(capacity: 4, full: batch) == [.untruthfulFull(batch)])
  }

  @Test func `more elements inside than fit are found`() {
    let history = History(sends: Self.twoSends, receptions: Self.receptions([(0, 0), (0, 1)]))
    let found = HistoryChecker(capacity: 1).violations(in: history)
    #expect(found == [.overrun(by: 1, atEndOf: Self.twoSends[1])])
  }
}

/// Each rule of the checker on two histories that differ in one point.
@Suite struct HistoryRuleTests {
  @Test(arguments: HistoryRule.all)
  func `a history that just keeps a rule passes`(rule: HistoryRule) {
    #expect(rule.checker.violations(in: rule.good) == [])
  }

  @Test(arguments: HistoryRule.all)
  func `a history that just breaks a rule violates that rule alone`(rule: HistoryRule) {
    let found = rule.checker.violations(in: rule.bad)
    #expect(Set(found.map(String.init(describing:))) == Set(rule.violations.map(String.init(describing:))))
    #expect(found.count == rule.violations.count)
  }

  @Test func `each rule has an example`() {
    let shown = Set(HistoryRule.all.flatMap(\.violations).map(\.rule))
    #expect(shown == HistoryChecker.Violation.rules)
  }

  @Test func `splitting a history by producers keeps each one's order and slots`() {
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
      parts.map { $0.releases.map(\.time) } == [[11], [8, 12]],
      "a release counts only for the producer whose slot it is")
    #expect(parts.map { $0.releases.map(\.released) } == [[1], [1, 2]])
  }
}

@Suite struct HistoryRecorderTests {
  @Test func `an element that a thread reports during a send may have given way since the send began`() {
    let recorder = HistoryRecorder()
    @Sendable func note(_ sequence: Int) {
      recorder.noteRefusal(of: HistoryRule.element(0, sequence), .dropped)
    }
    let send = recorder.reportedSend(1, 0, ignoring: .dropped) {
      note(0)
      #expect(Threads.start { note(1) }.wait())
    }
    note(2)
    let reports = recorder.history(OwnerLog(recorder), [send]).reports.sorted { $0.time < $1.time }
    #expect(send.outcome == .accepted)
    #expect(reports.map(\.element.sequence) == [0, 1, 2])
    #expect(reports.map(\.earliest) == [send.begin, nil, nil])
  }
}
