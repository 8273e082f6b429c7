import Foundation

/// The machine that a run's figures belong to.
package struct MachineDescription: Codable, Equatable, Sendable {
  package var cpu: String
  package var cores: Int
  package var kernel: String
  package var architecture: String
  /// The load of the machine in the minute before the run.
  package var loadAverage: Double
  /// Median of all round trips that were measured; nil on one core.
  package var roundTripNanoseconds: Double?

  package init(
    cpu: String, cores: Int, kernel: String, architecture: String, loadAverage: Double,
    roundTripNanoseconds: Double? = nil
  ) {
    self.cpu = cpu
    self.cores = cores
    self.kernel = kernel
    self.architecture = architecture
    self.loadAverage = loadAverage
    self.roundTripNanoseconds = roundTripNanoseconds
  }
}

/// What a reader of the figures must know about the run.
package struct RunDescription: Equatable, Sendable {
  package var machine: MachineDescription
  package var compiler: String
  package var commit: String
  /// How many reactors the cases `scale` had.
  package var reactors: Int
  /// "release" or "debug"; nil in files from before it was written, as ``seconds`` is.
  package var configuration: String?
  /// For how long a cell was measured, over all its repetitions.
  package var seconds: Double?
  /// When it began, as ISO 8601.
  package var measuredAt: String?
  /// Nil in files from before it was written, and in those of the race.
  package var asked: AskedSelection?
  /// In how many parts that time was measured, if ``asked`` does not say it: in a file of the race.
  package var repetitions: Int?

  /// How long one repetition was.
  package var secondsOfRepetition: Double? {
    guard let seconds, let repetitions = asked?.repetitions ?? repetitions, repetitions > 0 else {
      return nil
    }
    return seconds / Double(repetitions)
  }

  package init(
    machine: MachineDescription, compiler: String, commit: String, reactors: Int,
    configuration: String? = nil, seconds: Double? = nil, measuredAt: String? = nil,
    asked: AskedSelection? = nil, repetitions: Int? = nil
  ) {
    self.machine = machine
    self.compiler = compiler
    self.commit = commit
    self.reactors = reactors
    self.configuration = configuration
    self.seconds = seconds
    self.measuredAt = measuredAt
    self.asked = asked
    self.repetitions = repetitions
  }
}

/// What a run was asked to measure. Another run that was asked for as much must not have less.
package struct AskedSelection: Codable, Equatable, Sendable {
  /// Names or prefixes of cases; empty for all but the curves.
  package var cases: [String]
  package var producers: [Int]
  package var curves: Bool
  package var quick: Bool
  package var repetitions: Int

  package init(_ options: Options) {
    (cases, producers, curves) = (options.cases, options.producers, options.curves)
    (quick, repetitions) = (options.quick, options.repetitions)
  }

  func selects(caseName: String) -> Bool {
    if cases.isEmpty, CaseName.selects("curve.", caseName) { return curves }
    return CaseName.selects(cases, caseName)
  }
}

/// The results for machines: schema 1. Files from before the samples were written can be read, too.
package struct JSONReport: Codable, Sendable {
  private let schema: Int
  package let machine: MachineDescription
  package let compiler: String
  package let commit: String
  private let reactors: Int
  private let configuration: String?
  private let seconds: Double?
  private let measuredAt: String?
  private let asked: AskedSelection?
  /// Of the race, which has no selection.
  private let repetitions: Int?
  /// Nil in files from before they were written, and in those of the race.
  private let failures: [String]?
  private let isIncomplete: Bool?
  /// What a queue of the race did that it must not; nil in reports of the benchmark.
  private let problems: [RaceReport.Problem]?
  package let results: [CellResult]

  package var run: RunDescription {
    RunDescription(
      machine: machine, compiler: compiler, commit: commit, reactors: reactors,
      configuration: configuration, seconds: seconds, measuredAt: measuredAt, asked: asked,
      repetitions: repetitions)
  }

  /// What went wrong, as far as the file says it: a variant that failed before it was timed has no result. Of the race only what is
  /// ours.
  package var failureTexts: [String] {
    let ours = (problems ?? []).filter { $0.variant.hasPrefix("ours") }.map {
      "\($0.caseName) \($0.variant) P=\($0.producers): \($0.words)"
    }
    return (failures ?? []) + ours
      + (isIncomplete == true ? ["it ended early, and what came later was not measured"] : [])
  }

  /// - Parameters:
  ///   - failures: A sentence for each variant that was wrong.
  ///   - isIncomplete: Whether the run ended before all was measured.
  package init(
    _ description: RunDescription, _ results: [CellResult], failures: [String] = [],
    isIncomplete: Bool = false
  ) {
    schema = 1
    machine = description.machine
    compiler = description.compiler
    commit = description.commit
    reactors = description.reactors
    (configuration, seconds) = (description.configuration, description.seconds)
    measuredAt = description.measuredAt
    asked = description.asked
    repetitions = description.repetitions
    (self.failures, self.isIncomplete, problems) = (failures, isIncomplete, nil)
    self.results = results
  }

  /// Reads the content of a file. Throws if it is no report, or has another schema.
  package init(_ data: Data) throws(UsageError) {
    do {
      self = try JSONDecoder().decode(JSONReport.self, from: data)
    } catch {
      throw UsageError("it is no report of this benchmark.")
    }
    guard schema == 1 else { throw UsageError("its schema is \(schema), not 1.") }
  }

  package func data() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self) + Data("\n".utf8)
  }
}

extension CellResult: Codable {
  private enum Key: String, CodingKey {
    case caseName = "case"
    case variant, producers, unit, min, median, max, samples, rounds, allocationsPerAction, placement,
      verified
    case shareOfLimit, limit, limitRounds, isLowerBound, isThin
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(caseName, forKey: .caseName)
    try fields.encode(variant, forKey: .variant)
    try fields.encode(producers, forKey: .producers)
    try fields.encode(unit, forKey: .unit)
    try fields.encode(figure.min, forKey: .min)
    try fields.encode(figure.median, forKey: .median)
    try fields.encode(figure.max, forKey: .max)
    try fields.encode(figure.samples, forKey: .samples)
    if !figure.rounds.isEmpty { try fields.encode(figure.rounds, forKey: .rounds) }
    // These are encoded even when nil, so that a reader finds every field; null means that it was not measured.
    try fields.encode(shareOfLimit, forKey: .shareOfLimit)
    try fields.encode(allocationsPerAction, forKey: .allocationsPerAction)
    try fields.encode(placement, forKey: .placement)
    try fields.encode(verified, forKey: .verified)
    // The repetitions of the limit, in the unit and the placement of the figure.
    try fields.encodeIfPresent(limit?.samples, forKey: .limit)
    if let limit, !limit.rounds.isEmpty { try fields.encode(limit.rounds, forKey: .limitRounds) }
    if isLowerBound { try fields.encode(true, forKey: .isLowerBound) }
    if isThin { try fields.encode(true, forKey: .isThin) }
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    func number(_ key: Key) throws -> Double { try fields.decode(Double.self, forKey: key) }
    // Files from before the samples, or the rounds, were written have none.
    func list<Value: Decodable>(_ key: Key) throws -> [Value] {
      try fields.decodeIfPresent([Value].self, forKey: key) ?? []
    }
    self.init(
      caseName: try fields.decode(String.self, forKey: .caseName),
      variant: try fields.decode(String.self, forKey: .variant),
      producers: try fields.decode(Int.self, forKey: .producers),
      unit: try fields.decode(FigureUnit.self, forKey: .unit),
      figure: try Figure(list(.samples), rounds: list(.rounds))
        ?? Figure(min: number(.min), median: number(.median), max: number(.max)),
      allocationsPerAction: try fields.decodeIfPresent(Double.self, forKey: .allocationsPerAction),
      placement: try fields.decode(CorePlacement.self, forKey: .placement),
      verified: try fields.decode(Bool.self, forKey: .verified),
      isLowerBound: try fields.decodeIfPresent(Bool.self, forKey: .isLowerBound) ?? false,
      isThin: try fields.decodeIfPresent(Bool.self, forKey: .isThin) ?? false,
      shareOfLimit: try fields.decodeIfPresent(Double.self, forKey: .shareOfLimit),
      limit: try Figure(list(.limit), rounds: list(.limitRounds)))
  }
}
