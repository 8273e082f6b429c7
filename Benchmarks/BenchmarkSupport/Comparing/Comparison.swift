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
    case configuration = "other configuration"
    case members = "other members"
    case work = "other work"
    case lowerBound = "lower bound only"
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
  /// Whether an action allocates more often than it did, in whatever placement.
  package let allocatesMore: Bool
  /// Slower than the limit, by its interval and by its estimate. Not the tail of a latency, which has few items in it.
  let isBelowLimit: Bool
  /// How likely the interval of two equal builds is below 1; nil if it has none, or is not to be judged.
  let chanceOfBelow: Double?
  /// Wrong; or of ours, and with more allocations, or so much slower that the repetitions of both sides exclude chance; or of ours and
  /// slower, and together with others more than chance explains.
  package fileprivate(set) var isFailure: Bool

  /// How many more allocations for each action are the noise of counting.
  static let allocationNoise = 0.05

  /// The fewest repetitions of each side with which one figure can be slower beyond chance.
  static let fewestToFailAlone = 5

  /// - Parameter unlike: Why the two cannot be compared, whatever they are.
  init(_ old: CellResult, _ new: CellResult, limit: Double, unlike: Verdict.Reason? = nil) {
    self.old = old
    self.new = new
    let (faster, slower) = old.unit.isRate ? (new, old) : (old, new)
    ratio = RatioInterval(of: faster.comparedSamples, to: slower.comparedSamples)
    verdict = Self.verdict(old, new, ratio, limit: limit, unlike: unlike)
    allocatesMore =
      unlike == nil
      && old.allocationsPerAction.map { (new.allocationsPerAction ?? $0) - $0 > Self.allocationNoise } == true
    isBelowLimit = !new.isTail && verdict == .slower && (ratio?.estimate ?? 1) < limit
    chanceOfBelow =
      if !new.isTail, Self.canBeSlower(verdict, old) {
        RatioInterval.chanceOfBelow(faster.figure.samples.count, slower.figure.samples.count)
      } else { nil }
    let isCertain = isBelowLimit && Self.areFarApart(faster.comparedSamples, slower.comparedSamples)
    isFailure = (new.canFail && !new.verified) || (new.isOurs && (allocatesMore || isCertain))
  }

  /// Slower than the limit, which is our fault. That of a baseline is a control: the machine is to blame.
  var isSlower: Bool { new.isOurs && isBelowLimit }
  var chanceOfSlower: Double? { new.isOurs ? chanceOfBelow : nil }

  /// Whether the verdict could have been that it is slower. A new lower bound gets no other verdict.
  private static func canBeSlower(_ verdict: Verdict, _ old: CellResult) -> Bool {
    if case .notJudged(let reason) = verdict { reason == .lowerBound && !old.isLowerBound } else { true }
  }

  /// Whether all values are below all others, by a ratio of at least those of the largest to the least of both sides. Two samples of 5
  /// from one distribution have that in about one of 60,000 cases if it is uniform, in fewer if it has one peak, and in up to one
  /// of 1,000 if it has two.
  private static func areFarApart(_ values: [Double], _ others: [Double]) -> Bool {
    guard min(values.count, others.count) >= fewestToFailAlone, let least = values.min(),
      let largest = values.max(), let otherLeast = others.min(), let otherLargest = others.max()
    else { return false }
    return otherLeast / largest >= (largest / least) * (otherLargest / otherLeast)
  }

  /// Whether the verdict says anything.
  var isJudged: Bool {
    switch verdict {
    case .faster, .slower, .noDifference: true
    case .tooNoisy, .notJudged: false
    }
  }

  private static func verdict(
    _ old: CellResult, _ new: CellResult, _ ratio: RatioInterval?, limit: Double, unlike: Verdict.Reason?
  ) -> Verdict {
    if let unlike { return .notJudged(unlike) }
    guard old.verified, new.verified else { return .notJudged(.wrong) }
    guard !old.isLowerBound else { return .notJudged(.lowerBound) }
    // Repetitions in which the cores moved are of no class, not of the same one. How many bytes something takes depends on none.
    guard (old.placement == new.placement && new.placement != .unknown) || new.unit == .bytes else {
      return .notJudged(.placement)
    }
    guard let ratio else { return .notJudged(.tooFew) }
    // However far the repetitions are apart: the interval has that in it, and a certain loss must not pass as noise.
    if ratio.upper < limit, !new.isLowerBound || !new.unit.isRate { return .slower }
    // The true time is at least that of a lower bound: a loss is certain, and a gain cannot be seen.
    guard !new.isLowerBound else { return .notJudged(.lowerBound) }
    guard max(old.figure.spread, new.figure.spread) <= Figure.largestSpread else { return .tooNoisy }
    if ratio.lower > 1 { return .faster }
    if ratio.upper < 1 { return .slower }
    return ratio.lower >= limit && ratio.upper <= 1 / limit ? .noDifference : .tooNoisy
  }
}

extension CellResult {
  /// The repetitions, and what is below the resolution of the unit as if it were just that: nothing has no ratio to something.
  var comparedSamples: [Double] { figure.samples.map { Swift.max($0, unit.resolution) } }
}

extension CellResult {
  private var isOfRace: Bool { CaseName.selects("peers.", caseName) }

  /// Whether it counts as a failure if it is wrong or missing. Not the queues that ours race against, whose defects are known.
  var canFail: Bool { !isOfRace || isOurs }

  /// Whether what a user builds on decides its speed, so that it counts as a failure if it is slower. What is not known as a baseline is
  /// ours.
  var isOurs: Bool {
    if isOfRace { return variant.hasPrefix("ours") }
    // The pure-Swift core.
    if variant == "swift" || variant.hasPrefix("swift-") || variant.hasSuffix("-swift") { return false }
    // A state without a reactor; elsewhere it is the reactor that has nothing else.
    if variant == "plain" { return caseName == "publish.observed" }
    return !Self.baselines.contains(variant)
  }

  /// What ours is compared with, and the machine's limits. `one-mutex` has reactors of ours behind a dictionary that is not.
  package static let baselines: Set = [
    "actor", "actor-item", "asyncstream", "callbacks", "direct", "direct-event", "dispatch", "limit", "mutex",
    "mutex-item", "mutex-turn", "one-mutex", "pthread-mutex", "pthread-mutex-turn", "pthread-rwlock",
    "reference", "serial-queue", "sharded-actors", "sharded-states", "sqlite", "sqlite-grouped",
    "swapped-array", "urcu",
    "urcu-wfcqueue", "urcu-wfcqueue-paced",
  ]

  /// Whether it is the end of a distribution: a few items, which differ by far more than the builds do.
  var isTail: Bool { caseName.hasSuffix(".p99.9") || caseName.hasSuffix(".max") }
}

extension Figure {
  /// The distance of the quartiles, divided by the median, above which repetitions say nothing.
  static let largestSpread = 0.25

  /// The fewest repetitions that say something.
  static let fewestSamples = 4

  /// Whether its repetitions vary too much, or are too few. False for a file that does not have them. Quartiles may be near while
  /// a figure is of two kinds: then the largest is many times the least, which may be nothing.
  func saysLittle(_ unit: FigureUnit) -> Bool {
    guard !samples.isEmpty else { return false }
    return samples.count < Self.fewestSamples || spread > Self.largestSpread
      || max > 10 * Swift.max(min, unit.resolution)
  }

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

  /// How many figures of ours are slower than the limit, and from how many on that is more than chance explains.
  let slower: Int
  let fewestSlower: Int
  /// The same of baselines, limits and the pure-Swift core.
  let slowerControls: Int
  let fewestSlowerControls: Int

  /// What is wrong with the new run or the comparison as a whole: a sentence each.
  package let problems: [String]

  package var failures: [Compared] { figures.filter(\.isFailure) }
  package var isFailure: Bool { !failures.isEmpty || !problems.isEmpty }

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
    // A limit may be there in several placements of the cores.
    let before = Dictionary(grouping: compared(old), by: Key.init)
    let after = Set(compared(new).map(Key.init))
    var figures = compared(new).compactMap { result in
      before[Key(result)].flatMap { same in same.first { $0.placement == result.placement } ?? same.first }
        .map {
          Compared($0, result, limit: limit, unlike: Self.unlike(old, new, result.caseName))
        }
    }
    slower = figures.count(where: \.isSlower)
    fewestSlower = Chance.fewestBeyond(figures.compactMap(\.chanceOfSlower))
    let controls = figures.filter { !$0.new.isOurs }
    slowerControls = controls.count(where: \.isBelowLimit)
    fewestSlowerControls = Chance.fewestBeyond(controls.compactMap(\.chanceOfBelow))
    if slower >= fewestSlower {
      for index in figures.indices where figures[index].isSlower { figures[index].isFailure = true }
    }
    self.figures = figures
    onlyInOld = compared(old).filter { !after.contains(Key($0)) }
    onlyInNew = compared(new).filter { before[Key($0)] == nil }
    header = Self.header(old, new, onlyInOld: onlyInOld)
    problems = Self.problems(old, new, figures, onlyInOld: onlyInOld, onlyInNew: onlyInNew)
  }

  private static func header(
    _ old: JSONReport, _ new: JSONReport, onlyInOld: [CellResult]
  ) -> [String] {
    let runs = [("old", old), ("new", new)].map { name, report in
      "\(name): commit \(report.commit), \(report.compiler), \(report.machine.cpu), "
        + "\(report.machine.cores) cores, \(report.machine.kernel)"
    }
    var lines = runs
    if old.machine.cpu != new.machine.cpu || old.machine.cores != new.machine.cores {
      lines.append("The machines are not the same: a ratio also says how they differ.")
    }
    // Of files from before the number of repetitions was written, the time of all of them.
    let lengths =
      old.run.secondsOfRepetition != nil && new.run.secondsOfRepetition != nil
      ? (old.run.secondsOfRepetition, new.run.secondsOfRepetition) : (old.run.seconds, new.run.seconds)
    if let before = lengths.0, let after = lengths.1, before != after {
      let (old, new) = (FigureFormat.number(before), FigureFormat.number(after))
      lines.append(
        "The runs are not alike: they measured for \(old) s and \(new) s at a time. Short repetitions are slower."
      )
    }
    if new.run.asked == nil, !onlyInOld.isEmpty {
      lines.append(
        "The new report does not say what was asked for, so it may lack whole cases of the old one.")
    }
    return lines
  }
}
