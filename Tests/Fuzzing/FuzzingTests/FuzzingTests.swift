import FuzzProperties
import TestSupport
import Testing

/// What libFuzzer looks for is looked for here, too, without it: with the inputs that it has found, and with a few
/// thousand random ones.
@Suite struct FuzzingTests {
  @Test(arguments: FuzzProperty.all, CoreUnderTest.allCases)
  func everyInputOfTheCorpusHolds(_ property: FuzzProperty, _ core: CoreUnderTest) throws {
    let inputs = try Corpus.inputs(of: property)
    #expect(inputs.count > 10)
    for input in inputs {
      if let mismatch = property.mismatch(on: core.type, input.bytes) {
        Issue.record("Corpus/\(property)/\(input.name)\n\(mismatch)")
      }
    }
  }

  @Test(arguments: FuzzProperty.all, CoreUnderTest.allCases)
  func randomInputsHold(_ property: FuzzProperty, _ core: CoreUnderTest) {
    let inputs = RandomInputs(2000)
    for bytes in inputs {
      guard let mismatch = property.mismatch(on: core.type, bytes) else { continue }
      Issue.record("FUZZ_SEED=\(inputs.seed), input \(bytes)\n\(mismatch)")
      return
    }
  }
}
