import Foundation

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
    // Encoded even when nil: a reader finds every field, and null says that it was not counted.
    try fields.encode(allocationsPerAction, forKey: .allocationsPerAction)
    try fields.encode(placement, forKey: .placement)
    try fields.encode(verified, forKey: .verified)
  }
}
