import Foundation
import FuzzProperties
import Testing

/// Checks the properties without libFuzzer: with the inputs that it has found, and with a few thousand random ones.
@Suite struct FuzzingTests {
  @Test(arguments: FuzzProperty.all)
  func `each property holds for every input of the corpus`(_ property: FuzzProperty) throws {
    let inputs = try Corpus.inputs(of: property)
    #expect(inputs.count > 10)
    for input in inputs {
      if let mismatch = property.mismatch(input.bytes) {
        Issue.record("Corpus/\(property)/\(input.name)\n\(mismatch)")
      }
    }
  }

  @Test(arguments: FuzzProperty.all)
  func `each property holds for random inputs`(_ property: FuzzProperty) {
    let inputs = RandomInputs(property.randomInputs)
    // Before the first one: an input that stops the program leaves no other trace of the seed.
    FileHandle.standardError.write(Data("fuzz: \(property), FUZZ_SEED=\(inputs.seed)\n".utf8))
    for bytes in inputs {
      guard let mismatch = property.mismatch(bytes) else { continue }
      Issue.record("FUZZ_SEED=\(inputs.seed), input \(bytes)\n\(mismatch)")
      return
    }
  }
}
