import Testing

@testable import BenchmarkSupport

@Suite struct IntervalTests {
  /// The tables of the sign test: with 6 to 8 values at 5 % none, with 9 one, with 12 two, with 20 five.
  @Test(arguments: [(4, 0), (5, 0), (6, 0), (8, 0), (9, 1), (10, 1), (12, 2), (20, 5)])
  func `the interval of a median leaves out as many values as the tables of the sign test say`(
    _ count: Int, _ dropped: Int
  ) {
    #expect(MedianInterval.dropped(count) == dropped)
  }

  @Test func `the interval of a median is between two values`() throws {
    #expect(MedianInterval(of: [1, 2, 3]) == nil)
    let few = try #require(MedianInterval(of: [5, 1, 4, 2]))
    #expect((few.lower, few.upper) == (1, 5))
    let many = try #require(MedianInterval(of: [9, 1, 2, 3, 4, 5, 6, 7, 8]))
    #expect((many.lower, many.upper) == (2, 8))
  }

  @Test func `the interval of a difference contains it, and turns around with it`() throws {
    let (large, small) = ([100.0, 101, 99, 102, 98], [10.0, 30, 20, 21, 19])
    let difference = try #require(DifferenceInterval(of: large, minus: small))
    #expect(difference.lower < 80 && 80 < difference.upper)
    let inverse = try #require(DifferenceInterval(of: small, minus: large))
    #expect((inverse.lower, inverse.upper) == (-difference.upper, -difference.lower))
    #expect(DifferenceInterval(of: [1, 2, 3], minus: [1, 2, 3]) == nil)
  }
}
