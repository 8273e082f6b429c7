import FuzzProperties
import ReactorCore
import Testing

/// A property that finds nothing in a broken subject is no property: each of these faults must be found by
/// some random inputs.
@Suite struct DetectionTests {
  static let ringFaults: [any RingFault.Type] = [
    SaysFullTooEarly.self, ForgetsThatItIsClosed.self, SaysFullWhereClosed.self, AcceptsEmptyClaims.self,
    LosesTheEndOfABatch.self, LosesWhatIsPublished.self, ForgetsWhatIsAbandoned.self, KeepsASlot.self,
    NeverReleases.self, IsIdleWhileClosed.self, OverlooksALap.self,
  ]

  @Test(arguments: ringFaults.indices)
  func `ring finds a fault of the ring`(_ index: Int) {
    func body<Fault: RingFault>(_: Fault.Type) {
      #expect(isFound(by: .ring(on: FaultyCore<Fault>.self)), "\(Fault.self) was not found")
    }
    body(Self.ringFaults[index])
  }

  @Test(arguments: OverflowFault.allCases)
  func `overflow finds a fault of the reactor`(_ fault: OverflowFault) {
    #expect(isFound(by: .overflow(fault)))
  }

  @Test(arguments: ReentranceFault.allCases)
  func `reentrance finds a fault of the reactor`(_ fault: ReentranceFault) {
    #expect(isFound(by: .reentrance(fault)))
  }

  @Test(arguments: StreamsFault.allCases)
  func `streams finds a fault of the stream`(_ fault: StreamsFault) {
    #expect(isFound(by: .streams(fault)))
  }

  @Test(arguments: FuzzProperty.all)
  func `without a fault the same inputs hold`(_ property: FuzzProperty) {
    #expect(!isFound(by: property))
  }

  private func isFound(by property: FuzzProperty) -> Bool {
    RandomInputs(1500, seed: 1).contains { property.mismatch($0) != nil }
  }
}
