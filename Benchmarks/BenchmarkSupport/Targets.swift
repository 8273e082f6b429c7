/// A promise with a number.
package struct Target: Sendable {
  package enum Bound: Equatable, Sendable {
    case atLeast(Double)
    case atMost(Double)
  }

  package let text: String
  package let bound: Bound
  /// Empty, or a unit with a space before it.
  package let unit: String
  /// The measured figure; nil if this run did not measure what it is computed from.
  package let figure: @Sendable ([CellResult]) -> Double?

  package func isMet(by figure: Double) -> Bool {
    switch bound {
    case .atLeast(let least): figure >= least
    case .atMost(let most): figure <= most
    }
  }

  var boundText: String {
    switch bound {
    case .atLeast(let least): "at least \(FigureFormat.number(least))\(unit)"
    case .atMost(let most): "at most \(FigureFormat.number(most))\(unit)"
    }
  }
}

/// All promises with a number, and the table that compares them with what was measured.
package enum Targets {
  package static let all: [Target] = reading + memory + latency

  private static let reading: [Target] =
    [("reads", "beside the owner's core"), ("floating", "on all cores")].map {
      (part: String, place: String) -> Target in
      Target(
        text: "reads of 4 threads \(place), against a pthread mutex", bound: .atLeast(10), unit: " ×",
        figure: { results in
          let reads = find("readers.\(part)", "c", 4, in: results)
          return ratio(reads, find("readers.\(part)", "pthread-mutex", 4, in: results))
        })
    }
    + [1, 2, 4, 8].map { (readers: Int) -> Target in
      Target(
        text: "the owner's speed while \(readers) read, of that alone", bound: .atLeast(0.8), unit: "",
        figure: { results in find("readers.kept", "c", readers, in: results)?.figure.median })
    }

  private static let memory: [Target] = [
    Target(
      text: "an idle reactor, beyond the object itself", bound: .atMost(512), unit: " B",
      figure: { results in find("scale.idle.made", "caller", in: results)?.figure.median }),
    Target(
      text: "the same after its first action", bound: .atMost(512), unit: " B",
      figure: { results in find("scale.idle.used", "caller", in: results)?.figure.median }),
  ]

  private static let latency: [Target] = [
    Target(
      text: "p50 of a parked loop, against a bare futex wake", bound: .atMost(1.2), unit: " ×",
      figure: { results in find("latency.parked.p50", "c", in: results)?.shareOfLimit.map { 1 / $0 } }),
    Target(
      text: "wakes of a parked loop, for each of its sleeps", bound: .atMost(1), unit: "",
      figure: { results in
        let wakes = find("latency.parked.wakes", "c", in: results)
        return ratio(wakes, find("latency.parked.parks", "c", in: results))
      }),
    Target(
      text: "p50 of a busy loop, above half of the round trip", bound: .atMost(60), unit: " ns",
      figure: { results in
        find("latency.busy.p50", "c", in: results).flatMap { busy in
          busy.shareOfLimit.map { busy.figure.median * (1 - $0) }
        }
      }),
  ]

  /// The promises that this run measured.
  static func measured(_ results: [CellResult]) -> [(target: Target, figure: Double)] {
    all.compactMap { target in target.figure(results).map { (target: target, figure: $0) } }
  }

  /// A row for each promise that this run measured; nil if it measured none.
  package static func table(_ results: [CellResult]) -> Table? {
    let rows = measured(results)
    guard !rows.isEmpty else { return nil }
    func column(_ text: (_ target: Target, _ figure: Double) -> String) -> Table.Column {
      Table.Column(header: "", cells: rows.map { [text($0.target, $0.figure)] })
    }
    return Table(
      title: "What is promised of the C core, and what was measured", labels: rows.map(\.target.text),
      columns: [
        column { FigureFormat.number($1) + $0.unit }, column { target, _ in target.boundText },
        column { $0.isMet(by: $1) ? "met" : "NOT MET" },
      ])
  }

  private static func find(
    _ name: String, _ variant: String, _ producers: Int? = nil, in results: [CellResult]
  ) -> CellResult? {
    results.first {
      $0.caseName == name && $0.variant == variant && (producers == nil || $0.producers == producers)
    }
  }

  /// Nil if the two were measured in different placements of the cores, which cannot be compared.
  private static func ratio(_ figure: CellResult?, _ other: CellResult?) -> Double? {
    guard let figure, let other, figure.placement == other.placement else { return nil }
    return figure.figure.median / other.figure.median
  }
}
