/// What a report has to know of a case.
package struct CaseOutline: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// Columns are numbers of producers.
    case throughput
    /// One column: time per action.
    case time
    /// Columns are percentiles, each a case of its own in the results.
    case latency
    /// A row of the table of limits.
    case limit
  }

  /// The case that bounds another one, and how much of it applies.
  package struct Limit: Equatable, Sendable {
    package let name: String
    /// A latency is one way, a round trip two: its limit is half.
    package let scale: Double

    package init(_ name: String, scale: Double = 1) {
      self.name = name
      self.scale = scale
    }
  }

  package static let percentiles: [(name: String, fraction: Double)] = [
    ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1),
  ]

  package let name: String
  package let kind: Kind
  package let limit: Limit?

  package init(name: String, kind: Kind, limit: Limit? = nil) {
    self.name = name
    self.kind = kind
    self.limit = limit
  }

  /// The names under which its results appear.
  package var resultNames: [String] {
    kind == .latency ? Self.percentiles.map { "\(name).\($0.name)" } : [name]
  }
}
