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
    /// What was measured cannot be compared, for this reason.
    case notJudged(String)

    var text: String {
      switch self {
      case .met: "met"
      case .notMet: "NOT MET"
      case .undecided: "undecided"
      case .tooFew: "too few repetitions"
      case .notJudged: "not judged"
      }
    }
  }

  package let text: String
  package let bound: Bound
  /// Empty, or a unit with a space before it.
  package let unit: String
  /// The measured figure; nil if this run measured nothing of what it is computed from.
  package let figure: @Sendable ([CellResult]) -> TargetFigure?

  package func isMet(by figure: Double) -> Bool {
    switch bound {
    case .atLeast(let least): figure >= least
    case .atMost(let most): figure <= most
    }
  }

  /// By the whole interval: a promise is neither kept nor broken if the bound is in it.
  func verdict(on figure: TargetFigure) -> Verdict {
    if let obstacle = figure.obstacle { return .notJudged(obstacle) }
    guard let interval = figure.interval else { return .tooFew }
    if figure.isLowerBound {
      // The true figure is at least this.
      if isMet(by: interval.lowerBound) == isMet(by: .infinity) {
        return isMet(by: .infinity) ? .met : .notMet
      }
      return .notJudged(TargetFigure.lowerBound)
    }
    let isMet = isMet(by: interval.lowerBound)
    return isMet != self.isMet(by: interval.upperBound) ? .undecided : isMet ? .met : .notMet
  }

  /// The figure with its unit; a dash if there is none.
  func text(of figure: TargetFigure) -> String {
    figure.value.map { FigureFormat.number($0) + unit } ?? "–"
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
  /// Nil if there is an obstacle.
  package let value: Double?
  /// Where it may be, with everything that varies in it; nil if there are too few repetitions to say.
  let interval: ClosedRange<Double>?
  /// How the cores were placed: once for each figure that it is computed from, without those that are the same.
  let placements: [CorePlacement]
  /// Why no figure can be computed of what was measured; nil if one can.
  let obstacle: String?
  /// Whether the true figure is at least this: that of a latency, where not everything could be sent.
  var isLowerBound = false

  static let lowerBound = "a lower bound only"
  /// What a reader must know of it besides the verdict; nil if that is nothing.
  var remark: String? { obstacle ?? (isLowerBound ? Self.lowerBound : nil) }

  private init(
    value: Double?, interval: ClosedRange<Double>?, _ placements: [CorePlacement], obstacle: String? = nil
  ) {
    self.value = value
    self.interval = interval
    self.placements = placements.uniqued()
    self.obstacle = obstacle
  }

  init(_ figure: Figure, in placement: CorePlacement) {
    self.init(
      value: figure.median, interval: MedianInterval(of: figure.samples).map { $0.lower...$0.upper },
      [placement])
  }

  /// The ratio of two figures.
  ///
  /// - Parameter family: See ``PairedInterval``.
  init(
    _ figure: Figure, dividedBy other: Figure, leastOf family: Int = 1, in placement: CorePlacement
  ) {
    let ratio = figure.ratio(to: other, leastOf: family)
    self.init(
      value: ratio?.estimate ?? figure.median / other.median, interval: ratio.map { $0.lower...$0.upper },
      [placement])
  }

  /// The difference of two figures, divided by a number.
  init(_ figure: Figure, minus other: Figure, dividedBy divisor: Double = 1, in placement: CorePlacement) {
    let difference = figure.difference(to: other)
    self.init(
      value: (difference?.estimate ?? figure.median - other.median) / divisor,
      interval: difference.map { $0.lower / divisor...$0.upper / divisor }, [placement])
  }

  /// Nothing can be computed of what was measured.
  init(obstacle: String, in placements: [CorePlacement]) {
    self.init(value: nil, interval: nil, placements, obstacle: obstacle)
  }

  /// The least of several, of which each is needed: one that is missing may be the least. Nil if there are none.
  ///
  /// - Parameter figures: With their names; nil if nothing of it was measured. Their intervals end, above, as ``PairedInterval`` says of
  ///   a family: each can be the one that chance puts below the bound. Below, one that is too low by chance keeps no promise.
  init?(leastOf figures: [(name: String, figure: TargetFigure?)]) {
    let measured = figures.compactMap(\.figure)
    guard !measured.isEmpty else { return nil }
    let placements = measured.flatMap(\.placements)
    let obstacles = figures.compactMap { (name: String, figure: TargetFigure?) -> String? in
      guard let figure else { return "\(name) was not measured" }
      return figure.obstacle.map { "\(name): \($0)" }
    }
    if let first = obstacles.first {
      let others = obstacles.count > 1 ? ", and \(obstacles.count - 1) more" : ""
      self.init(obstacle: first + others, in: placements)
      return
    }
    let intervals = measured.compactMap(\.interval)
    var interval: ClosedRange<Double>?
    if intervals.count == measured.count, let lower = intervals.map(\.lowerBound).min(),
      let upper = intervals.map(\.upperBound).min()
    {
      interval = lower...upper
    }
    self.init(value: measured.compactMap(\.value).min(), interval: interval, placements)
    isLowerBound = measured.contains(where: \.isLowerBound)
  }
}
