import FuzzProperties
import ReactorCore
import Testing

/// A property must find faults: some random inputs must find each of these.
@Suite struct DetectionTests {
  static let ringFaults: [any RingFault.Type] = [
    SaysFullTooEarly.self, ForgetsThatItIsClosed.self, SaysFullWhereClosed.self, AcceptsEmptyClaims.self,
    LosesTheEndOfABatch.self, LosesWhatIsPublished.self, ForgetsWhatIsAbandoned.self, KeepsASlot.self,
    NeverReleases.self, IsIdleWhileClosed.self, OverlooksALap.self,
  ]

  @Test(arguments: ringFaults.indices)
  func `the ring property finds each fault of a ring`(_ index: Int) {
    func body<Fault: RingFault>(_: Fault.Type) {
      #expect(isFound(by: .ring(on: FaultyCore<Fault>.self)), "\(Fault.self) was not found")
    }
    body(Self.ringFaults[index])
  }

  @Test(arguments: OverflowFault.allCases)
  func `the overflow property finds each fault of a reactor`(_ fault: OverflowFault) {
    #expect(isFound(by: .overflow(fault)))
  }

  @Test(arguments: ReentranceFault.allCases)
  func `the reentrance property finds each fault of a reactor`(_ fault: ReentranceFault) {
    #expect(isFound(by: .reentrance(fault)))
  }

  @Test(arguments: StreamsFault.allCases)
  func `the streams property finds each fault of a stream`(_ fault: StreamsFault) {
    #expect(isFound(by: .streams(fault)))
  }

  @Test(arguments: SnapshotsFault.allCases)
  func `the snapshots property finds each fault of a reactor`(_ fault: SnapshotsFault) {
    #expect(isFound(by: .snapshots(fault)))
  }

  @Test(arguments: FuzzProperty.all)
  func `without a fault the same inputs find nothing`(_ property: FuzzProperty) {
    let found = RandomInputs(property.randomInputs, seed: 1).lazy.compactMap { property.mismatch($0) }.first
    #expect(found.map { "\($0)" } == nil, "\(found.map { "\($0)" } ?? "")")
  }

  private func isFound(by property: FuzzProperty) -> Bool {
    RandomInputs(property.randomInputs, seed: 1).contains { property.mismatch($0) != nil }
  }
}
