import Testing

@testable import BenchmarkSupport

@Suite struct PlacementTests {
  @Test(arguments: [
    (47.0, Placement.sibling), (59.9, .sibling), (60, .near), (125, .near), (249.9, .near), (250, .far),
    (980, .far),
  ])
  func roundTripsHaveAClass(_ roundTrip: Double, _ expected: Placement) {
    #expect(Placement(roundTrip: roundTrip) == expected)
  }

  @Test func noRoundTripIsUnknown() {
    #expect(Placement(roundTrip: nil) == .unknown)
    #expect(Placement(roundTrip: .nan) == .unknown)
  }

  @Test func coresThatMovedAreUnknown() {
    #expect(Placement(before: 100, after: 120) == .near)
    #expect(Placement(before: 100, after: 500) == .unknown)
    #expect(Placement(before: 100, after: nil) == .unknown)
    #expect(Placement(before: nil, after: nil) == .unknown)
  }

  @Test func prevailingIsWhatMostHave() {
    #expect(Placement.prevailing(in: [.near, .far, .far, .unknown, .unknown, .unknown]) == .far)
    #expect(Placement.prevailing(in: [.far, .near]) == .near)
    #expect(Placement.prevailing(in: [.unknown]) == .unknown)
    #expect(Placement.prevailing(in: []) == .unknown)
  }

  @Test func onlyThePrevailingIsKept() {
    let kept = Kept([(1, .near), (2, .far), (3, .near), (4, .unknown)], prevailing: .near)
    #expect(kept.values == [1, 3])
    #expect(kept.placement == .near)
  }

  @Test func aCellWithoutThePrevailingReportsAllAsUnknown() {
    let kept = Kept([(1, .far), (2, .unknown)], prevailing: .near)
    #expect(kept.values == [1, 2])
    #expect(kept.placement == .unknown)
  }
}
