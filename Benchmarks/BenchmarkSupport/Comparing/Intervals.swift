/// The interval that contains the median of what a sample is from, in 95 % of all cases: the one of the sign test, between two
/// of its values. From six values on there is one; with fewer it is from the least to the largest.
package struct MedianInterval: Equatable, Sendable {
  package let lower: Double
  package let upper: Double

  /// Nil if there are too few values to judge by: as many as a ``RatioInterval`` needs of two samples alike.
  package init?(of values: [Double]) {
    guard values.count >= 4 else { return nil }
    let sorted = values.sorted()
    let dropped = Self.dropped(values.count)
    (lower, upper) = (sorted[dropped], sorted[sorted.count - 1 - dropped])
  }

  /// How many values lie outside of the interval at each end.
  static func dropped(_ count: Int) -> Int {
    // How likely it is that so many of the values, or fewer, are below the median.
    var (ways, tail, fitting) = (1.0, 0.0, 0)
    let all = Double(sign: .plus, exponent: count, significand: 1)
    for below in 0...count {
      tail += ways / all
      if tail > (1 - RatioInterval.confidence) / 2 { break }
      fitting += 1
      ways *= Double(count - below) / Double(below + 1)
    }
    return max(0, fitting - 1)
  }
}

/// How much larger the values of one sample are than those of another, as an interval of 95 %: as ``RatioInterval``, of
/// differences.
package struct DifferenceInterval: Equatable, Sendable {
  package let estimate: Double
  package let lower: Double
  package let upper: Double

  init(estimate: Double, lower: Double, upper: Double) {
    (self.estimate, self.lower, self.upper) = (estimate, lower, upper)
  }

  /// Nil if there are too few values for the confidence.
  package init?(of values: [Double], minus base: [Double]) {
    guard let dropped = RatioInterval.dropped(values.count, base.count) else { return nil }
    let differences = values.flatMap { value in base.map { value - $0 } }.sorted()
    (lower, upper) = (differences[dropped], differences[differences.count - 1 - dropped])
    estimate = (differences[(differences.count - 1) / 2] + differences[differences.count / 2]) / 2
  }
}
