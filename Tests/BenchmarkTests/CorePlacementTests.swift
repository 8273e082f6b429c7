import Testing

@testable import BenchmarkSupport

@Suite struct CorePlacementTests {
  @Test(arguments: [
    (47.0, CorePlacement.sibling), (59.9, .sibling), (60, .near), (125, .near), (249.9, .near), (250, .far),
    (980, .far),
  ])
  func `a round trip has a class`(_ roundTrip: Double, _ expected: CorePlacement) {
    #expect(CorePlacement(roundTrip: roundTrip) == expected)
  }

  @Test func `a round trip that was not measured is of unknown class`() {
    #expect(CorePlacement(roundTrip: nil) == .unknown)
    #expect(CorePlacement(roundTrip: .nan) == .unknown)
  }

  @Test func `a repetition during which the cores moved is of unknown class`() {
    #expect(CorePlacement(before: 100, after: 120) == .near)
    #expect(CorePlacement(before: 100, after: 500) == .unknown)
    #expect(CorePlacement(before: 100, after: nil) == .unknown)
    #expect(CorePlacement(before: nil, after: nil) == .unknown)
  }

  @Test func `the prevailing class is the one that most repetitions have`() {
    #expect(CorePlacement.prevailing(in: [.near, .far, .far, .unknown, .unknown, .unknown]) == .far)
    #expect(CorePlacement.prevailing(in: [.far, .near]) == .near)
    #expect(CorePlacement.prevailing(in: [.unknown]) == .unknown)
    #expect(CorePlacement.prevailing(in: []) == .unknown)
  }

  @Test func `the placement that was asked for prevails if any repetition has it`() {
    #expect(CorePlacement.prevailing(in: [.near, .far, .far], asked: .near) == .near)
    #expect(CorePlacement.prevailing(in: [.near, .far, .far], asked: .sibling) == .far)
    #expect(CorePlacement.prevailing(in: [.unknown], asked: .near) == .unknown)
  }

  @Test func `only repetitions of the prevailing class are kept`() {
    let kept = Kept([(1, .near), (2, .far), (3, .near), (4, .unknown)], prevailing: .near)
    #expect(kept.values == [1, 3])
    #expect(kept.placement == .near)
  }

  @Test func `a cell without the prevailing class keeps all repetitions as unknown`() {
    let kept = Kept([(1, .far), (2, .unknown)], prevailing: .near)
    #expect(kept.values == [1, 2])
    #expect(kept.placement == .unknown)
  }
}
