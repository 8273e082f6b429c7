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

  package init(machine: MachineDescription, compiler: String, commit: String, reactors: Int) {
    self.machine = machine
    self.compiler = compiler
    self.commit = commit
    self.reactors = reactors
  }
}

/// The results for machines: schema 1.
package struct JSONReport: Encodable {
  private let schema = 1
  private let machine: MachineDescription
  private let compiler: String
  private let commit: String
  private let reactors: Int
  private let results: [CellResult]

  package init(_ description: RunDescription, _ results: [CellResult]) {
    machine = description.machine
    compiler = description.compiler
    commit = description.commit
    reactors = description.reactors
    self.results = results
  }

  package func data() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self) + Data("\n".utf8)
  }
}

extension CellResult: Encodable {
  private enum Key: String, CodingKey {
    case caseName = "case"
    case variant, producers, unit, min, median, max, allocationsPerAction, placement, verified
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
    // Encoded even when nil, so that a reader finds every field; null means that it was not counted.
    try fields.encode(allocationsPerAction, forKey: .allocationsPerAction)
    try fields.encode(placement, forKey: .placement)
    try fields.encode(verified, forKey: .verified)
  }
}
