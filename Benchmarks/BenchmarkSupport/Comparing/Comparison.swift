/// What a comparison says of one figure in two reports.
package enum Verdict: Equatable, Sendable {
  case faster
  case slower
  /// A difference beyond the limit can be excluded.
  case noDifference
  /// The repetitions vary too much to say.
  case tooNoisy
  case notJudged(Reason)

  package enum Reason: String, Sendable {
    case placement = "other placement"
    case wrong = "wrong result"
    case tooFew = "too few repetitions"
  }

  package var text: String {
    switch self {
    case .faster: "faster"
    case .slower: "SLOWER"
    case .noDifference: "no difference"
    case .tooNoisy: "too noisy"
    case .notJudged(let reason): reason.rawValue
    }
  }
}

/// One figure in two reports.
package struct Compared: Sendable {
  package let old: CellResult
  package let new: CellResult
  package let verdict: Verdict
  /// Of the speeds, whatever the unit: more than 1 means that the new one is faster. Nil if that is not known.
  package let ratio: RatioInterval?
  /// Slower than the limit, or wrong.
  package let isFailure: Bool

  /// The distance of the quartiles, divided by the median, above which repetitions say nothing.
  static let largestSpread = 0.25

  init(_ old: CellResult, _ new: CellResult, limit: Double) {
    self.old = old
    self.new = new
    let (faster, slower) = old.unit.isRate ? (new, old) : (old, new)
    ratio = RatioInterval(of: faster.figure.samples, to: slower.figure.samples)
    verdict = Self.verdict(old, new, ratio, limit: limit)
    isFailure = !new.verified || (verdict == .slower && (ratio?.estimate ?? 1) < limit)
  }

  private static func verdict(
    _ old: CellResult, _ new: CellResult, _ ratio: RatioInterval?, limit: Double
  ) -> Verdict {
    guard old.verified, new.verified else { return .notJudged(.wrong) }
    // Repetitions in which the cores moved are of no class, not of the same one.
    guard old.placement == new.placement, new.placement != .unknown else { return .notJudged(.placement) }
    guard let ratio else { return .notJudged(.tooFew) }
    guard max(old.figure.spread, new.figure.spread) <= largestSpread else { return .tooNoisy }
    if ratio.lower > 1 { return .faster }
    if ratio.upper < 1 { return .slower }
    return ratio.lower >= limit && ratio.upper <= 1 / limit ? .noDifference : .tooNoisy
  }
}

extension Figure {
  /// The distance of the quartiles, divided by the median.
  var spread: Double {
    let sorted = samples.sorted()
    guard !sorted.isEmpty, median != 0 else { return 0 }
    func quantile(_ fraction: Double) -> Double {
      let position = fraction * Double(sorted.count - 1)
      let index = Int(position)
      let next = Swift.min(index + 1, sorted.count - 1)
      return sorted[index] + (sorted[next] - sorted[index]) * (position - Double(index))
    }
    return (quantile(0.75) - quantile(0.25)) / median
  }
}

/// Two reports, figure by figure. Figures that are themselves ratios or counts are left out.
package struct Comparison: Sendable {
  package let figures: [Compared]
  /// Figures that only one of the reports has.
  package let onlyInOld: [CellResult]
  package let onlyInNew: [CellResult]
  let header: [String]

  package var failures: [Compared] { figures.filter(\.isFailure) }

  package init(_ old: JSONReport, _ new: JSONReport, limit: Double) {
    struct Key: Hashable {
      let name: String
      let variant: String
      let producers: Int
      let unit: FigureUnit

      init(_ result: CellResult) {
        (name, variant) = (result.caseName, result.variant)
        (producers, unit) = (result.producers, result.unit)
      }
    }
    func compared(_ report: JSONReport) -> [CellResult] { report.results.filter(\.unit.isCompared) }
    let before = Dictionary(compared(old).map { (Key($0), $0) }, uniquingKeysWith: { first, _ in first })
    let after = Set(compared(new).map(Key.init))
    figures = compared(new).compactMap { result in
      before[Key(result)].map { Compared($0, result, limit: limit) }
    }
    onlyInOld = compared(old).filter { !after.contains(Key($0)) }
    onlyInNew = compared(new).filter { before[Key($0)] == nil }
    header = Self.header(old, new)
  }

  private static func header(_ old: JSONReport, _ new: JSONReport) -> [String] {
    let runs = [("old", old), ("new", new)].map { name, report in
      "\(name): commit \(report.commit), \(report.compiler), \(report.machine.cpu), "
        + "\(report.machine.cores) cores, \(report.machine.kernel)"
    }
    let isSame = old.machine.cpu == new.machine.cpu && old.machine.cores == new.machine.cores
    return isSame ? runs : runs + ["The machines are not the same: a ratio also says how they differ."]
  }
}
