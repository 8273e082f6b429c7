/// A rule of the checker, shown by two histories that differ in one point: one that just keeps it, and one
/// that just breaks it.
struct HistoryRule: Sendable, CustomStringConvertible {
  let description: String
  let checker: HistoryChecker
  let good: History
  let bad: History
  /// What the checker must say of the bad one, and nothing else.
  let violations: [HistoryChecker.Violation]

  /// - Parameter differing: Changes one thing in the good history.
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

  static var all: [HistoryRule] { ofElements + ofOrder + ofRoom + ofDrops + ofTurns + ofClosing }

  // What the examples are written with.

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
  /// Its name, without what it is about.
  var rule: String { String("\(self)".prefix { $0 != "(" }) }

  /// All rules that there are. A test sees to it that each has an example.
  static let rules: Set<String> = [
    "lost", "duplicated", "reportedTwice", "receivedAndReported", "unknown", "tooEarly", "reordered",
    "overtaken", "tornBatch", "untruthfulFull", "untruthfulDrop", "droppedTooSoon", "overrun", "overlap",
    "outsideOfTurns", "onAnotherThread", "untruthfulClosed", "acceptedAfterClose", "discardedTooEarly",
    "receivedAfterEnd",
  ]
}
