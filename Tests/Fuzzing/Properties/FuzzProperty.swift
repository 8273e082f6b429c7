import ReactorCore
import TestSupport

/// Something that must hold for every byte string, each read as a list of operations: a subject on a core does
/// what its reference does.
public struct FuzzProperty: Sendable, CustomStringConvertible {
  public let name: String
  /// Those that it is about.
  public let cores: [CoreUnderTest]
  private let run: @Sendable (any Core.Type, [UInt8]) throws(Mismatch) -> Void

  init(
    _ name: String, on cores: [CoreUnderTest] = CoreUnderTest.allCases,
    _ run: @escaping @Sendable (any Core.Type, [UInt8]) throws(Mismatch) -> Void
  ) {
    self.name = name
    self.cores = cores
    self.run = run
  }

  /// Where the subject differs from its reference on any of its cores, and on which; nil if nowhere.
  public func mismatch(_ bytes: [UInt8]) -> (core: CoreUnderTest, mismatch: Mismatch)? {
    for core in cores {
      if let mismatch = mismatch(on: core.type, bytes) { return (core, mismatch) }
    }
    return nil
  }

  /// Where the subject differs from its reference; nil if nowhere.
  public func mismatch(on core: any Core.Type, _ bytes: [UInt8]) -> Mismatch? {
    do throws(Mismatch) {
      try run(core, bytes)
      return nil
    } catch { return error }
  }

  public var description: String { name }

  public static let all = [ring, overflow, reentrance, streams]

  public static func named(_ name: String) -> FuzzProperty? { all.first { $0.name == name } }
}
