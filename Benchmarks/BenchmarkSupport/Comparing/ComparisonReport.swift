import Foundation

/// A comparison for people: a row for each figure, and how often each verdict was reached.
package struct ComparisonReport: Sendable {
  private let comparison: Comparison
  private let limit: Double

  package init(_ comparison: Comparison, limit: Double) {
    self.comparison = comparison
    self.limit = limit
  }

  package func rendered() -> String {
    ([comparison.header.joined(separator: "\n")] + [table?.rendered()].compactMap { $0 }
      + [summary.joined(separator: "\n")]).joined(separator: "\n\n") + "\n"
  }

  private var table: Table? {
    let figures = comparison.figures
    guard !figures.isEmpty else { return nil }
    func column(_ header: String, _ text: (Compared) -> String) -> Table.Column {
      Table.Column(header: header, cells: figures.map { [text($0)] })
    }
    return Table(
      title: "Speed of the new one, divided by that of the old one: above 1 is faster",
      labels: figures.map { "\($0.new.caseName) \($0.new.variant) P=\($0.new.producers)" },
      columns: [
        column("old") { Self.median($0.old) },
        column("new") { Self.median($0.new) },
        column("") { $0.new.unit.rawValue },
        column("ratio") { $0.ratio.map { Self.ratio($0.estimate) } ?? "–" },
        column("95 % interval") { compared in
          compared.ratio.map { "\(Self.ratio($0.lower))–\(Self.ratio($0.upper))" } ?? "–"
        },
        Table.Column(header: "verdict", cells: figures.map(Self.verdict)),
      ])
  }

  /// In lines of their own what an action allocates more: the table is wide as it is.
  private static func verdict(_ compared: Compared) -> [String] {
    let verdict = compared.verdict.text + (compared.isFailure ? " !" : "")
    guard compared.allocatesMore else { return [verdict] }
    let counts = [compared.old, compared.new].map { FigureFormat.allocations($0.allocationsPerAction) }
    return [verdict, "more allocations:", counts.joined(separator: " → ")]
  }

  private static func median(_ result: CellResult) -> String {
    (result.isLowerBound ? "≥" : "") + FigureFormat.number(result.figure.median)
  }

  /// With three decimals: a ratio of two runs is often near 1.
  private static func ratio(_ value: Double) -> String { String(format: "%.3f", value) }

  private var summary: [String] {
    let figures = comparison.figures
    let counts = figures.map(\.verdict.text).uniqued().map { text in
      "\(figures.count { $0.verdict.text == text }) \(text)"
    }
    var lines = ["\(figures.count) figures: " + (counts.isEmpty ? "none" : counts.joined(separator: ", "))]
    let intervals = figures.count {
      if case .notJudged = $0.verdict { false } else { true }
    }
    if intervals >= 20 {
      lines.append("About \(intervals / 20) of the \(intervals) intervals miss the true ratio by chance.")
    }
    let unjudged = figures.count { !$0.isJudged }
    if unjudged > 0 { lines.append("\(unjudged) figures were not judged.") }
    for (place, results) in [("old", comparison.onlyInOld), ("new", comparison.onlyInNew)]
    where !results.isEmpty {
      lines.append(
        "\(results.count) figures are in the \(place) report only, such as \(results[0].caseName).")
    }
    let failed = comparison.failures.count
    if failed > 0 {
      lines.append(
        "\(failed) marked with '!': slower than \(limit) of the old speed, or wrong, or with more allocations."
      )
    }
    let unmarked = figures.count { $0.isSlower && !$0.isFailure }
    if comparison.slower >= comparison.fewestSlower {
      lines.append(
        "\(comparison.slower) figures of ours are slower than \(limit) of the old speed. Chance alone has "
          + "\(comparison.fewestSlower) or more in less than 1 % of all comparisons.")
    } else if unmarked > 0 {
      lines.append(
        "Slower than \(limit) of the old speed, but not marked: \(unmarked). Chance alone may have up to "
          + "\(comparison.fewestSlower - 1).")
    } else if failed == 0, unjudged < figures.count {
      let what =
        "Nothing" + (comparison.slowerControls > 0 ? " of ours" : "")
        + (unjudged > 0 ? " that was judged" : "")
      lines.append("\(what) is slower than \(limit) of the old speed.")
    }
    return lines + [control].compactMap(\.self) + comparison.problems
  }

  /// What baselines, limits and the pure-Swift core say of the machine; nil if none is slower.
  private var control: String? {
    let (slower, fewest) = (comparison.slowerControls, comparison.fewestSlowerControls)
    guard slower > 0 else { return nil }
    let all = comparison.figures.count { !$0.new.isOurs }
    return "Slower, too, of baselines, limits and the pure-Swift core: \(slower) of \(all). "
      + (slower >= fewest ? "Suspect the machine." : "Chance alone may have up to \(fewest - 1).")
  }
}
