/// A promise with a number.
package struct Target: Sendable {
  package enum Bound: Equatable, Sendable {
    case atLeast(Double)
    case atMost(Double)
  }

  package enum Verdict: Equatable, Sendable {
    case met
    case notMet
    /// The repetitions vary much, and some are on each side of the bound.
    case tooNoisy

    var text: String {
      switch self {
      case .met: "met"
      case .notMet: "NOT MET"
      case .tooNoisy: "too noisy"
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

  func verdict(on figure: TargetFigure) -> Verdict {
    if figure.spread > Compared.largestSpread, isMet(by: figure.low) != isMet(by: figure.high) {
      return .tooNoisy
    }
    return isMet(by: figure.value) ? .met : .notMet
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
  /// Where it may be: all repetitions, or the interval of a ratio.
  let low: Double
  let high: Double
  /// The distance of the quartiles of the repetitions, divided by their median.
  let spread: Double

  /// - Parameter converted: What becomes of a result's figure.
  init(_ result: CellResult, _ converted: (Double) -> Double = { $0 }) {
    let figure = result.figure
    (value, low, high) = (converted(figure.median), converted(figure.min), converted(figure.max))
    spread = figure.spread
  }

  /// The ratio of two results.
  init(_ result: CellResult, dividedBy other: CellResult) {
    let interval = RatioInterval(of: result.figure.samples, to: other.figure.samples)
    value = result.figure.median / other.figure.median
    (low, high) = interval.map { ($0.lower, $0.upper) } ?? (value, value)
    spread = max(result.figure.spread, other.figure.spread)
  }
}
