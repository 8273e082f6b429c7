import ReactorCore

/// A property that must hold for every byte string. The string is read as a list of operations, and for each a
/// subject must do what its reference does.
public struct FuzzProperty: Sendable, CustomStringConvertible {
  public let name: String
  /// How many random inputs the tests run.
  public let randomInputs: Int
  private let run: @Sendable ([UInt8]) throws(Mismatch) -> Void

  init(
    _ name: String, randomInputs: Int = 1500, _ run: @escaping @Sendable ([UInt8]) throws(Mismatch) -> Void
  ) {
    self.name = name
    self.randomInputs = randomInputs
    self.run = run
  }

  /// Returns the first difference between the subject and its reference, or nil if there is none.
  public func mismatch(_ bytes: [UInt8]) -> Mismatch? {
    do throws(Mismatch) {
      try run(bytes)
      return nil
    } catch { return error }
  }

  public var description: String { name }

  public static let all = [ring(on: CurrentCore.self), overflow, reentrance, streams, snapshots]

  public static func named(_ name: String) -> FuzzProperty? { all.first { $0.name == name } }
}

/// A byte string that is read as a list of choices. Every byte string is valid: beyond its end zeros are read.
struct FuzzInput {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position >= bytes.count }

  mutating func byte() -> UInt8 {
    defer { position += 1 }
    return isAtEnd ? 0 : bytes[position]
  }

  /// Returns a number from 0 to `limit` - 1.
  mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

  /// Returns one of these values.
  mutating func choice<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }
}

/// A difference between a subject and its reference.
public struct Mismatch: Error, CustomStringConvertible {
  let operations: [String]
  let problem: String

  /// - Parameter operations: All operations up to the one at which the subject and its reference differ.
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

/// Collects the operations of a run, and stops it at the first difference.
struct FuzzLog<Operation> {
  private(set) var operations: [Operation] = []

  mutating func append(_ operation: Operation) { operations.append(operation) }

  /// - Parameter what: The subject of the sentence "… is", such as "the outcome".
  func expect<Value: Equatable>(
    _ found: Value, is expected: Value, _ what: @autoclosure () -> String
  ) throws(Mismatch) {
    if found != expected { throw mismatch("\(what()) is \(found), and must be \(expected).") }
  }

  func expect(_ holds: Bool, _ problem: @autoclosure () -> String) throws(Mismatch) {
    if !holds { throw mismatch(problem()) }
  }

  // The texts are made here, after a failure, because a run takes microseconds and texts for each operation would
  // take longer.
  func mismatch(_ problem: String) -> Mismatch {
    Mismatch(after: operations.map { "\($0)" }, problem)
  }
}
