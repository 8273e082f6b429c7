/// What a subject did that its reference does not do.
public struct Mismatch: Error, CustomStringConvertible {
  let operations: [String]
  let problem: String

  /// - Parameter operations: All up to the one at which they differ.
  init(after operations: [String], _ problem: String) {
    self.operations = operations
    self.problem = problem
  }

  public var description: String {
    let listed = operations.enumerated().map { "  \($0.offset + 1). \($0.element)" }
    return (["Problem: \(problem)", "Operations, the last of which shows it:"] + listed)
      .joined(separator: "\n")
  }
}

/// Collects what a run has done, and stops it at the first difference.
struct FuzzLog<Operation> {
  private(set) var operations: [Operation] = []

  mutating func append(_ operation: Operation) { operations.append(operation) }

  /// - Parameter what: In a form that completes "… is": "the outcome".
  func expect<Value: Equatable>(
    _ found: Value, is expected: Value, _ what: @autoclosure () -> String
  ) throws(Mismatch) {
    if found != expected { throw mismatch("\(what()) is \(found), and must be \(expected).") }
  }

  func expect(_ holds: Bool, _ problem: @autoclosure () -> String) throws(Mismatch) {
    if !holds { throw mismatch(problem()) }
  }

  // Texts are made here, after a failure, and not at each operation: a run takes microseconds.
  func mismatch(_ problem: String) -> Mismatch {
    Mismatch(after: operations.map { "\($0)" }, problem)
  }
}
