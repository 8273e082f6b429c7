import Testing

@testable import BenchmarkSupport

@Suite struct CorePlacementTests {
  @Test(arguments: [
    (47.0, CorePlacement.sibling), (59.9, .sibling), (60, .near), (125, .near), (249.9, .near), (250, .far),
    (980, .far),
  ])
  func `round trips have a class`(_ roundTrip: Double, _ expected: CorePlacement) {
    #expect(CorePlacement(roundTrip: roundTrip) == expected)
  }

  @Test func `no round trip is unknown`() {
    #expect(CorePlacement(roundTrip: nil) == .unknown)
    #expect(CorePlacement(roundTrip: .nan) == .unknown)
  }

  @Test func `cores that moved are unknown`() {
    #expect(CorePlacement(before: 100, after: 120) == .near)
    #expect(CorePlacement(before: 100, after: 500) == .unknown)
    #expect(CorePlacement(before: 100, after: nil) == .unknown)
    #expect(CorePlacement(before: nil, after: nil) == .unknown)
  }

  @Test func `prevailing is what most have`() {
    #expect(CorePlacement.prevailing(in: [.near, .far, .far, .unknown, .unknown, .unknown]) == .far)
    #expect(CorePlacement.prevailing(in: [.far, .near]) == .near)
    #expect(CorePlacement.prevailing(in: [.unknown]) == .unknown)
    #expect(CorePlacement.prevailing(in: []) == .unknown)
  }

  @Test func `only the prevailing is kept`() {
    let kept = Kept([(1, .near), (2, .far), (3, .near), (4, .unknown)], prevailing: .near)
    #expect(kept.values == [1, 3])
    #expect(kept.placement == .near)
  }

  @Test func `a cell without the prevailing reports all as unknown`() {
    let kept = Kept([(1, .far), (2, .unknown)], prevailing: .near)
    #expect(kept.values == [1, 2])
    #expect(kept.placement == .unknown)
  }
}
