import Testing

@testable import BenchmarkSupport

@Suite struct HistogramTests {
  @Test func `the percentiles of an empty histogram are zero`() {
    #expect(Histogram().percentile(0.5) == 0)
    #expect(Histogram().maximum == 0)
  }

  @Test func `small values are exact`() {
    var histogram = Histogram()
    for value in UInt64(0)..<256 { histogram.record(value) }
    #expect(histogram.percentile(0) == 0)
    #expect(histogram.percentile(0.5) == 127)
    #expect(histogram.percentile(1) == 255)
  }

  /// The middle of three is the second: ranks round up.
  @Test func `ranks round up`() {
    var histogram = Histogram()
    for value in [UInt64(10), 20, 30] { histogram.record(value) }
    #expect(histogram.percentile(0.5) == 20)
    #expect(histogram.percentile(0.67) == 30)
  }

  /// Whatever a value is, its bucket ends at or above it and at most 1/128 higher.
  @Test func `each value is in the bucket that its index names`() {
    for shift in 0..<64 {
      let power = UInt64(1) << UInt64(shift)
      let values = [power, power + power / 3, power - 1 + power]
      for value in values {
        let top = Histogram.highestValue(at: Histogram.index(of: value))
        #expect(top >= value)
        #expect(top - value <= value / 128)
      }
    }
  }

  @Test func `there is no gap between two buckets`() {
    for index in 0..<7000 {
      let next = Histogram.highestValue(at: index) + 1
      #expect(Histogram.index(of: next) == index + 1)
    }
  }

  @Test(arguments: [UInt64(1), 42, 7_777])
  func `percentiles are within one bucket of the exact ones`(seed: UInt64) {
    var state = seed
    var histogram = Histogram()
    var values: [UInt64] = []
    for _ in 0..<10_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let value = (state >> 33) >> (state % 24)
      values.append(value)
      histogram.record(value)
    }
    values.sort()
    for fraction in [0.001, 0.5, 0.9, 0.99, 0.999, 1] {
      let rank = Int((fraction * Double(values.count)).rounded(.up))
      let exact = values[rank - 1]
      let read = histogram.percentile(fraction)
      #expect(read >= exact)
      #expect(read - exact <= exact / 128)
    }
    #expect(histogram.maximum == values.last)
    #expect(histogram.percentile(1) == values.last)
  }
}
