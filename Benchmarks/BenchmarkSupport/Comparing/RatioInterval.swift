import Foundation

/// How many times larger the values of one sample are than those of another, with a confidence interval. Of two runs, or of
/// repetitions that did not take turns; ``Figure/ratio(to:leastOf:)`` pairs those that did.
///
/// The estimate is that of Hodges and Lehmann, on logarithms: the median of the ratios of all pairs. The interval is the one
/// that belongs to the rank test of Mann and Whitney. Both assume no distribution. From seven repetitions on, one wild
/// repetition moves them little.
package struct RatioInterval: Equatable, Sendable {
  package static let confidence = 0.95

  package let estimate: Double
  package let lower: Double
  package let upper: Double
  /// See ``PairedInterval/percent``.
  package let percent: Int

  init(estimate: Double, lower: Double, upper: Double, percent: Int) {
    (self.estimate, self.lower, self.upper, self.percent) = (estimate, lower, upper, percent)
  }

  /// Nil if there are too few values for the confidence (at least 4 and 4, or 3 and 5), or one of them is not positive.
  package init?(of values: [Double], to base: [Double]) {
    guard let dropped = Self.dropped(values.count, base.count), (values + base).allSatisfy({ $0 > 0 }) else {
      return nil
    }
    let ratios = values.flatMap { value in base.map { value / $0 } }.sorted()
    lower = ratios[dropped]
    upper = ratios[ratios.count - 1 - dropped]
    percent = 95
    // The mean of the two in the middle on a logarithmic scale, so that the inverse ratio has the inverse estimate.
    estimate = (ratios[(ratios.count - 1) / 2] * ratios[ratios.count / 2]).squareRoot()
  }

  /// How many of the sorted ratios lie outside of the interval at each end; nil if even all of them are too few.
  ///
  /// Without a difference, the number of pairs in which the first value is the smaller one has a known distribution. The
  /// number of arrangements that have u such pairs is the coefficient of q^u in the Gaussian binomial coefficient.
  static func dropped(_ count: Int, _ other: Int) -> Int? {
    guard let tails = tails(count, other) else { return nil }
    let fitting = tails.prefix { $0 <= (1 - confidence) / 2 }.count
    return fitting == 0 ? nil : fitting - 1
  }

  /// How likely it is, without a difference, that the whole interval is below 1. Nil if there is no interval.
  static func chanceOfBelow(_ count: Int, _ other: Int) -> Double? {
    tails(count, other)?.last { $0 <= (1 - confidence) / 2 }
  }

  /// For each number of pairs, how likely it is that there are so many in which the first value is the smaller one, or fewer.
  private static func tails(_ count: Int, _ other: Int) -> [Double]? {
    guard count > 0, other > 0 else { return nil }
    var arrangements = [Double](repeating: 0, count: count * other + 1)
    arrangements[0] = 1
    for factor in 1...other {
      // times 1 - q^(count + factor), divided by 1 - q^factor
      for u in arrangements.indices.reversed() where u >= count + factor {
        arrangements[u] -= arrangements[u - count - factor]
      }
      for u in arrangements.indices where u >= factor { arrangements[u] += arrangements[u - factor] }
    }
    let all = arrangements.reduce(0, +)
    var tail = 0.0
    return arrangements.map { ways in
      tail += ways / all
      return tail
    }
  }
}
