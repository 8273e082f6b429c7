import Testing

/// A record that just breaks one of the rules of `Log`.
struct Violation<Log: Sendable>: Sendable, CustomTestStringConvertible {
  let testDescription: String
  private let failure: String
  private let record: @Sendable (Log) -> Void

  /// - Parameters:
  ///   - failure: A part of the text with which the execution must fail.
  ///   - record: Breaks the rule.
  init(_ description: String, _ failure: String, _ record: @escaping @Sendable (Log) -> Void) {
    testDescription = description
    self.failure = failure
    self.record = record
  }

  /// Records the violation in a new log, and expects that it is noticed, at the latest by `verify`.
  func expectFailure(
    in make: @escaping @Sendable () -> Log, by verify: @escaping @Sendable (Log) -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let record = record
    let execution = Schedule(.random).run {
      let log = make()
      record(log)
      verify(log)
    }
    #expect(
      execution.failure?.contains(failure) == true, "\(execution.failure ?? "no failure")",
      sourceLocation: sourceLocation)
  }
}
