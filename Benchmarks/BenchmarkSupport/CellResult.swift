/// The unit of a figure. More is better for a rate, less for a time or a size.
package enum FigureUnit: String, Codable, Sendable {
  case millionPerSecond = "M/s"
  case nanoseconds = "ns"
  case bytes = "B"
  /// How often something happens for each action.
  case perAction = "per action"
  /// One figure divided by another of the same repetition.
  case ratio = "ratio"

  /// How much of `limit` is reached: 1 at the limit, whether more is better or less.
  package func fraction(of limit: Double, reached figure: Double) -> Double? {
    switch self {
    case .millionPerSecond: limit > 0 ? figure / limit : nil
    case .nanoseconds, .bytes: figure > 0 ? limit / figure : nil
    case .perAction, .ratio: nil
    }
  }

  /// The least that can be told from nothing.
  package var resolution: Double {
    switch self {
    case .millionPerSecond, .perAction, .ratio: 0.001
    case .nanoseconds: 0.01
    case .bytes: 1
    }
  }

  /// Whether more of it is better.
  package var isRate: Bool { self == .millionPerSecond }

  /// Whether the ratio of two variants' figures is of use.
  package var isCompared: Bool { self != .ratio && self != .perAction }
}

/// Several repetitions of one figure, and what a table shows of them.
package struct Figure: Equatable, Sendable {
  package let min: Double
  /// The middle value, or the mean of the two in the middle.
  package let median: Double
  package let max: Double
  /// The figure of each repetition, in the order of measurement.
  package let samples: [Double]
  /// The round of each repetition, by its number in the whole run. What was measured in one round belongs together. Empty if the
  /// rounds are not known.
  package let rounds: [Int]

  /// Nil for no values.
  package init?(_ values: [Double], rounds: [Int] = []) {
    guard !values.isEmpty else { return nil }
    samples = values
    self.rounds = rounds.count == values.count ? rounds : []
    let sorted = values.sorted()
    let middle = sorted.count / 2
    min = sorted[0]
    max = sorted[sorted.count - 1]
    median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  /// A figure from a file that does not have the repetitions.
  package init(min: Double, median: Double, max: Double) {
    (self.min, self.median, self.max, samples, rounds) = (min, median, max, [], [])
  }
}

/// One figure of the report.
package struct CellResult: Equatable, Sendable {
  package var caseName: String
  package var variant: String
  package var producers: Int
  package var unit: FigureUnit
  package var figure: Figure
  /// Nil where allocations were not, or could not be, counted.
  package var allocationsPerAction: Double?
  package var placement: CorePlacement
  package var verified: Bool
  /// Whether some of what was to be measured was given up: then the figure is at least this.
  package var isLowerBound: Bool
  /// Whether it is a percentile that a few of the slowest items of a repetition decide.
  package var isThin: Bool
  /// How much of the machine's limit is reached, which was measured in the same rounds and the same placement.
  package var shareOfLimit: Double?
  /// That limit, in the unit of the figure. Nil in files from before they had it.
  package var limit: Figure?

  package init(
    caseName: String, variant: String, producers: Int, unit: FigureUnit, figure: Figure,
    allocationsPerAction: Double?, placement: CorePlacement, verified: Bool, isLowerBound: Bool = false,
    isThin: Bool = false, shareOfLimit: Double? = nil, limit: Figure? = nil
  ) {
    self.caseName = caseName
    self.variant = variant
    self.producers = producers
    self.unit = unit
    self.figure = figure
    self.allocationsPerAction = allocationsPerAction
    self.placement = placement
    self.verified = verified
    self.isLowerBound = isLowerBound
    self.isThin = isThin
    self.shareOfLimit = shareOfLimit
    self.limit = limit
  }

  var saysLittle: Bool { isThin || figure.saysLittle(unit) }

  /// What a table writes before the figure: `~` if it says little, `≥` if it is a lower bound.
  var marks: String { (saysLittle ? "~" : "") + (isLowerBound ? "≥" : "") }
}
