import ReactorCore

/// Something that must hold for every byte string, each read as a list of operations: a subject does what its
/// reference does.
public struct FuzzProperty: Sendable, CustomStringConvertible {
  public let name: String
  private let run: @Sendable ([UInt8]) throws(Mismatch) -> Void

  init(_ name: String, _ run: @escaping @Sendable ([UInt8]) throws(Mismatch) -> Void) {
    self.name = name
    self.run = run
  }

  /// Where the subject differs from its reference; nil if nowhere.
  public func mismatch(_ bytes: [UInt8]) -> Mismatch? {
    do throws(Mismatch) {
      try run(bytes)
      return nil
    } catch { return error }
  }

  public var description: String { name }

  public static let all = [ring(on: CurrentCore.self), overflow, reentrance, streams]

  public static func named(_ name: String) -> FuzzProperty? { all.first { $0.name == name } }
}

/// A byte string that is read as a list of choices. Any byte string is one: what is missing at the end is 0.
struct FuzzInput {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position >= bytes.count }

  mutating func byte() -> UInt8 {
    defer { position += 1 }
    return isAtEnd ? 0 : bytes[position]
  }

  /// A number from 0 to `limit` - 1.
  mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

  /// One of them.
  mutating func choice<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }
}

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
