/// A promise with a number.
package struct Target: Sendable {
  package enum Bound: Equatable, Sendable {
    case atLeast(Double)
    case atMost(Double)
  }

  package enum Verdict: Equatable, Sendable {
    case met
    case notMet
    /// The interval contains the bound.
    case undecided
    /// Too few repetitions for an interval.
    case tooFew

    var text: String {
      switch self {
      case .met: "met"
      case .notMet: "NOT MET"
      case .undecided: "undecided"
      case .tooFew: "too few repetitions"
      }
    }
  }

  package let text: String
  package let bound: Bound
  /// Empty, or a unit with a space before it.
  package let unit: String
  /// The measured figure; nil if this run did not measure what it is computed from.
  package let figure: @Sendable ([CellResult]) -> TargetFigure?

  package func isMet(by figure: Double) -> Bool {
    switch bound {
    case .atLeast(let least): figure >= least
    case .atMost(let most): figure <= most
    }
  }

  /// By the whole interval: a promise is neither kept nor broken if the bound is in it.
  func verdict(on figure: TargetFigure) -> Verdict {
    guard let interval = figure.interval else { return .tooFew }
    let isMet = isMet(by: interval.lowerBound)
    return isMet != self.isMet(by: interval.upperBound) ? .undecided : isMet ? .met : .notMet
  }

  var boundText: String {
    switch bound {
    case .atLeast(let least): "at least \(FigureFormat.number(least))\(unit)"
    case .atMost(let most): "at most \(FigureFormat.number(most))\(unit)"
    }
  }
}

/// A figure that a promise is compared with, and how far it can be trusted.
package struct TargetFigure: Equatable, Sendable {
  package let value: Double
  /// Where it may be, with everything that varies in it; nil if there are too few repetitions to say.
  let interval: ClosedRange<Double>?

  init(_ figure: Figure) {
    value = figure.median
    interval = MedianInterval(of: figure.samples).map { $0.lower...$0.upper }
  }

  /// The ratio of two figures.
  init(_ figure: Figure, dividedBy other: Figure) {
    value = figure.median / other.median
    interval = RatioInterval(of: figure.samples, to: other.samples).map { $0.lower...$0.upper }
  }

  /// The difference of two figures, divided by a number.
  init(_ figure: Figure, minus other: Figure, dividedBy divisor: Double = 1) {
    value = (figure.median - other.median) / divisor
    interval = DifferenceInterval(of: figure.samples, minus: other.samples).map {
      $0.lower / divisor...$0.upper / divisor
    }
  }

  /// The least of several. Nil if there are none.
  init?(leastOf figures: [TargetFigure]) {
    guard let least = figures.map(\.value).min() else { return nil }
    value = least
    let intervals = figures.compactMap(\.interval)
    guard intervals.count == figures.count, let lower = intervals.map(\.lowerBound).min(),
      let upper = intervals.map(\.upperBound).min()
    else {
      interval = nil
      return
    }
    interval = lower...upper
  }
}
