import FuzzProperties
import ReactorCore
import Testing

/// A property that finds nothing in a broken subject is no property: each of these faults must be found by
/// as many random inputs as ``FuzzingTests`` tries.
@Suite struct DetectionTests {
  static let ringFaults: [any RingFault.Type] = [
    SaysFullTooEarly.self, ForgetsThatItIsClosed.self, SaysFullWhereClosed.self, AcceptsEmptyClaims.self,
    LosesTheEndOfABatch.self, LosesWhatIsPublished.self, ForgetsWhatIsAbandoned.self, KeepsASlot.self,
    NeverReleases.self, IsIdleWhileClosed.self, OverlooksALap.self,
  ]

  @Test(arguments: ringFaults.indices)
  func ringFindsAFaultOfTheRing(_ index: Int) {
    func body<Fault: RingFault>(_: Fault.Type) {
      #expect(isFound(by: .ring, on: FaultyCore<Fault>.self), "\(Fault.self) was not found")
    }
    body(Self.ringFaults[index])
  }

  private func isFound(by property: FuzzProperty, on core: any Core.Type) -> Bool {
    RandomInputs(2000, seed: 1).contains { property.mismatch(on: core, $0) != nil }
  }
}
