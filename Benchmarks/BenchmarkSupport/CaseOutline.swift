/// What a report needs to know about a case.
package struct CaseOutline: Equatable, Sendable {
  package enum Kind: String, Encodable, Sendable {
    /// Columns are numbers of producers.
    case throughput
    /// One column: the time of an action.
    case time
    /// Columns are the parts: percentiles, and counts of sleeps and wakes.
    case latency
    /// A table for each part, in which columns are numbers of readers.
    case readers
    /// Columns are the parts: what one of very many costs.
    case scale
    /// Columns are the parts: what a change costs, and how many reads there are meanwhile.
    case sizes
    /// Rows of the table of limits, one for each part.
    case limit
    /// Of the race against other queues. Columns are numbers of producers.
    case race
  }

  /// One of several figures that the same repetitions give. Each is a case of its own in the results.
  package struct Part: Equatable, Sendable {
    package let name: String
    package let unit: FigureUnit
    /// The title of a table of this part alone.
    package let meaning: String

    package init(_ name: String, _ unit: FigureUnit, _ meaning: String = "") {
      self.name = name
      self.unit = unit
      self.meaning = meaning
    }
  }

  /// The case with which another one is compared as its limit.
  package struct Limit: Equatable, Sendable {
    package let name: String
    /// Which part of the limit applies: a latency is one way, so its limit is half of a round trip.
    package let scale: Double

    package init(_ name: String, scale: Double = 1) {
      self.name = name
      self.scale = scale
    }
  }

  /// The place of a case that is one point of a curve: the same work with more of something.
  package struct Curve: Equatable, Sendable {
    package let name: String
    package let x: Int
    /// What `x` counts, as the title of an axis.
    package let axis: String

    package init(name: String, x: Int, axis: String) {
      self.name = name
      self.x = x
      self.axis = axis
    }
  }

  package static let percentiles: [(name: String, fraction: Double)] = [
    ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1),
  ]

  /// Whether fewer than ten of so many items are beyond the percentile: then it is as much chance as the maximum, which is one item.
  package static func isThin(_ percentile: String, of items: Int) -> Bool {
    percentiles.contains { $0.name == percentile && Double(items) * (1 - $0.fraction) < 10 - 1e-6 }
  }

  package static let percentileParts = percentiles.map { Part($0.name, .nanoseconds) }

  package let name: String
  package let kind: Kind
  package let limit: Limit?
  /// Empty if there is only one figure.
  package let parts: [Part]
  /// Nil if it is no point of a curve. A point is measured only if it is asked for: see `Options.curves`.
  package let curve: Curve?

  /// - Parameter parts: without them, the percentiles of a latency, and none of anything else.
  package init(
    name: String, kind: Kind, limit: Limit? = nil, parts: [Part]? = nil, curve: Curve? = nil
  ) {
    self.name = name
    self.kind = kind
    self.limit = limit
    self.curve = curve
    self.parts = parts ?? (kind == .latency ? Self.percentileParts : [])
  }

  /// The names under which its results appear.
  package var resultNames: [String] { parts.isEmpty ? [name] : parts.map(resultName) }

  package func resultName(_ part: Part) -> String { "\(name).\(part.name)" }

  /// Whether its parts are columns of one table.
  package var partsAreColumns: Bool { kind == .latency || kind == .scale || kind == .sizes }
}

/// How names of cases are matched on the command line.
package enum CaseName {
  /// Whether `pattern` is `name` or a prefix of it. The empty pattern selects nothing: it is a typo.
  package static func selects(_ pattern: String, _ name: String) -> Bool {
    !pattern.isEmpty && name.hasPrefix(pattern)
  }

  /// Whether any of `patterns` selects `name`; no patterns select everything.
  package static func selects(_ patterns: [String], _ name: String) -> Bool {
    patterns.isEmpty || patterns.contains { selects($0, name) }
  }
}
