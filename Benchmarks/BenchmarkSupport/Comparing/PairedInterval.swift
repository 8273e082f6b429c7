/// Where the centre of differences, or of ratios, lies: of two things that were measured in the same rounds, one value for each
/// round. What changes from round to round, such as the speed of the machine, is in both and cancels out.
///
/// The estimate is that of Hodges and Lehmann: the median of the means of all pairs of values, each with itself, too. The
/// interval of 95 % is the one that belongs to the signed-rank test of Wilcoxon. From six rounds on there is one; with five, the
/// range of the values is one of 93.75 %. ``percent`` says which.
struct PairedInterval: Equatable, Sendable {
  /// The fewest rounds that are worth an interval.
  static let fewest = 5

  let estimate: Double
  let lower: Double
  let upper: Double
  /// The confidence of the interval, without a family: rounded to a whole number, and 95 if it is more.
  let percent: Int

  /// Nil if there are too few values.
  ///
  /// - Parameters:
  ///   - family: Of how many figures the least is looked for. Each of them can be falsely below the bound by chance, so that the upper
  ///     end is that of a confidence of which all together fail as seldom as one; as far as the rounds suffice for that.
  ///   - mean: Of two values: the arithmetic one of differences, the geometric one of ratios.
  init?(_ values: [Double], leastOf family: Int = 1, mean: (Double, Double) -> Double) {
    guard values.count >= Self.fewest else { return nil }
    let means = values.indices.flatMap { index in values[index...].map { mean(values[index], $0) } }.sorted()
    estimate = mean(means[(means.count - 1) / 2], means[means.count / 2])
    let tail = (1 - RatioInterval.confidence) / 2
    percent = values.count == Self.fewest ? 94 : 95
    lower = means[Self.dropped(values.count, tail: tail)]
    upper = means[means.count - 1 - Self.dropped(values.count, tail: tail / Double(family))]
  }

  /// How many of the sorted means lie outside of the interval at one end, beyond which it is to end with at most the likelihood `tail`.
  /// Zero if even all of them are too few.
  ///
  /// Around zero, each rank is that of a positive value with a likelihood of one half. So the number of ways to have a sum of ranks
  /// is the coefficient of q^sum in the product of all 1 + q^rank.
  static func dropped(_ count: Int, tail: Double) -> Int {
    var likelihoods = [Double](repeating: 0, count: count * (count + 1) / 2 + 1)
    likelihoods[0] = 1
    for rank in stride(from: 1, through: count, by: 1) {
      for sum in likelihoods.indices.reversed() {
        likelihoods[sum] = (likelihoods[sum] + (sum >= rank ? likelihoods[sum - rank] : 0)) / 2
      }
    }
    var (below, fitting) = (0.0, 0)
    for likelihood in likelihoods {
      below += likelihood
      if below > tail { break }
      fitting += 1
    }
    return max(0, fitting - 1)
  }
}

extension Figure {
  /// The repetitions of the rounds that both figures have.
  private func pairs(with other: Figure) -> [(Double, Double)] {
    let others = Dictionary(zip(other.rounds, other.samples), uniquingKeysWith: { first, _ in first })
    return zip(rounds, samples).compactMap { round, sample in others[round].map { (sample, $0) } }
  }

  /// How many times larger this figure is than another one of the same run. With too few rounds in common, the repetitions count as
  /// independent, which is valid, too, but has the changes of the machine in the interval. Nil if there are too few of them.
  ///
  /// - Parameter family: See ``PairedInterval``.
  func ratio(to base: Figure, leastOf family: Int = 1) -> RatioInterval? {
    let pairs = pairs(with: base)
    guard pairs.allSatisfy({ $0 > 0 && $1 > 0 }),
      let paired = PairedInterval(
        pairs.map { $0 / $1 }, leastOf: family, mean: { ($0 * $1).squareRoot() })
    else { return RatioInterval(of: samples, to: base.samples) }
    return RatioInterval(
      estimate: paired.estimate, lower: paired.lower, upper: paired.upper, percent: paired.percent)
  }

  /// By how much this figure exceeds another one of the same run: see ``ratio(to:leastOf:)``.
  func difference(to base: Figure) -> DifferenceInterval? {
    let differences = pairs(with: base).map { $0 - $1 }
    guard let paired = PairedInterval(differences, mean: { ($0 + $1) / 2 }) else {
      return DifferenceInterval(of: samples, minus: base.samples)
    }
    return DifferenceInterval(estimate: paired.estimate, lower: paired.lower, upper: paired.upper)
  }
}
