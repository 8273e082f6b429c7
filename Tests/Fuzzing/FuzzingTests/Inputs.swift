import Foundation
import FuzzProperties
import TestSupport

/// The committed inputs: those with which libFuzzer reached different code, and those that once found a bug.
/// `Scripts/fuzz` begins with them.
enum Corpus {
  static func inputs(of property: FuzzProperty) throws -> [(name: String, bytes: [UInt8])] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(components: "Corpus", property.name)
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
      .map { (name: $0.lastPathComponent, bytes: [UInt8](try Data(contentsOf: $0))) }
  }
}

/// Random byte strings from a seed, which a failure prints. `FUZZ_SEED` repeats them, `FUZZ_MODE=long` makes a
/// hundred times as many.
struct RandomInputs: Sequence {
  let seed: UInt64
  let count: Int

  init(_ count: Int, seed: UInt64? = nil) {
    let environment = ProcessInfo.processInfo.environment
    self.seed = seed ?? environment["FUZZ_SEED"].map(Self.parse) ?? .random(in: 0..<1 << 32)
    self.count = environment["FUZZ_MODE"] == "long" ? count * 100 : count
  }

  private static func parse(_ text: String) -> UInt64 {
    guard let seed = UInt64(text) else { fatalError("FUZZ_SEED is \(text); it must be a whole number") }
    return seed
  }

  func makeIterator() -> AnyIterator<[UInt8]> {
    var generator = SplitMix64(seed: seed)
    var left = count
    return AnyIterator {
      if left == 0 { return nil }
      left -= 1
      let length = Int(generator.next() % 128)
      return (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 32) }
    }
  }
}
