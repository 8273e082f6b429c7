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
