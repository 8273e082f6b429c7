/// What a run writes into `README.md` and `Benchmarks/RESULTS.md`: the parts that ``MarkedText`` finds there.
///
/// - `run`: the machine, the compiler, the commit and the placement;
/// - `tables NAME…`: the tables of the cases, or parts of cases, of these names or prefixes;
/// - `limits`: the machine's limits;
/// - `targets`: the promises with a number;
/// - `performance`: the table of the README.
package struct ResultsPages: Sendable {
  private let run: RunDescription
  private let header: String
  private let outlines: [CaseOutline]
  private let results: [CellResult]

  /// - Parameter header: what the report says above its tables.
  package init(_ run: RunDescription, header: String, _ outlines: [CaseOutline], _ results: [CellResult]) {
    self.run = run
    self.header = header
    self.outlines = outlines
    self.results = results
  }

  /// The cases of which no part named in `names` shows anything.
  package static func casesWithoutTable(_ outlines: [CaseOutline], in names: [String]) -> [String] {
    let patterns = names.flatMap { Self.patterns(of: $0) ?? [] }
    return outlines.filter { outline in
      outline.kind != .limit
        && !outline.resultNames.contains { name in patterns.contains { CaseName.selects($0, name) } }
    }.map(\.name)
  }

  /// Throws if there is no such part.
  package func content(of name: String) throws(UsageError) -> String {
    switch name {
    case "run": return fenced(header)
    case "limits": return fenced(TextReport(outlines, results).limits?.rendered())
    case "targets": return fenced(Targets.table(results)?.rendered())
    case "performance": return PerformanceTable.markdown(run, results)
    default:
      guard let patterns = Self.patterns(of: name) else {
        throw UsageError("There is no generated part '\(name)'; ResultsPages.swift lists those that exist.")
      }
      let shown = results.filter { result in patterns.contains { CaseName.selects($0, result.caseName) } }
      let tables = TextReport(outlines, shown).tables.map { $0.rendered() }
      return fenced(tables.isEmpty ? nil : tables.joined(separator: "\n"))
    }
  }

  private static func patterns(of name: String) -> [String]? {
    let words = name.split(separator: " ").map(String.init)
    return words.first == "tables" && words.count > 1 ? Array(words.dropFirst()) : nil
  }

  private func fenced(_ text: String?) -> String {
    guard let text else { return "This run did not measure it." }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    // Columns are padded with spaces, which do not belong at the end of a line in a repository.
    for index in lines.indices { while lines[index].last == " " { lines[index].removeLast() } }
    while lines.last == "" { lines.removeLast() }
    return (["```"] + lines + ["```"]).joined(separator: "\n")
  }
}

/// The table of the README: few rows, each with what a user would otherwise choose beside it, from one run.
package enum PerformanceTable {
  struct Row: Sendable {
    let text: String
    var caseName: String
    /// Threads that send or read.
    var threads = 1
    /// The variant in the column of the reactor.
    var reactor = "c"
    /// Another case whose figure stands behind the first one.
    var beside: String?
  }

  /// At most eight: the README must stay short.
  static let rows = [
    Row(text: "one uncontended send and reduce (`.caller`)", caseName: "sync.uncontended"),
    Row(text: "1 thread sends to a loop", caseName: "reactor.loop"),
    Row(text: "8 threads send to a loop", caseName: "reactor.loop", threads: 8),
    Row(text: "8 threads send on `.caller`", caseName: "reactor.caller", threads: 8),
    // The locks publish each action, too.
    Row(
      text: "4 threads read 16 bytes while the owner publishes each action", caseName: "readers.reads",
      threads: 4, reactor: "c-each"),
    // Both: the owners are not equally fast while nobody reads, so the share alone would mislead.
    Row(
      text: "the owner's speed meanwhile, and of that alone", caseName: "readers.owner", threads: 4,
      reactor: "c-each", beside: "readers.kept"),
    Row(text: "one action that changes an array of 512 bytes in the state", caseName: "publish.array"),
    Row(text: "memory of an idle one, object included", caseName: "scale.idle.used", reactor: "caller"),
  ]

  private static let baselines = [
    (header: "pthread mutex", variant: "pthread-mutex"), (header: "`Mutex`", variant: "mutex"),
    (header: "actor", variant: "actor"),
  ]

  /// Rows without a figure of the reactor are left out. One that was measured in another placement of the cores than most says so.
  static func markdown(_ run: RunDescription, _ results: [CellResult]) -> String {
    let measured = rows.compactMap { row in reactor(row, results).map { (row: row, reactor: $0) } }
    // Of the rows that are shown: other cases of the run may have been placed otherwise.
    let placement = CorePlacement.prevailing(in: measured.map(\.reactor.placement))
    let shown = measured.map { row, reactor in
      [row.text + (reactor.placement == placement ? "" : " (placement \(reactor.placement.rawValue))")]
        + [text(row, reactor, results)]
        + baselines.map { baseline(row, $0.variant, beside: reactor, results) }
    }
    let header = ["case", "reactor"] + baselines.map(\.header)
    let lines = [line(header), "|" + String(repeating: "---|", count: header.count)] + shown.map(line)
    // In the same line: the README must not grow.
    let marks =
      shown.joined().contains { $0.contains("~") }
      ? "; `~`: repetitions that vary too much, or fewer than \(Figure.fewestSamples) (range)." : "."
    return place(run, placement) + marks + "\n\n" + lines.joined(separator: "\n")
  }

  private static func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }

  private static func place(_ run: RunDescription, _ placement: CorePlacement) -> String {
    // The median of the whole run, which may be that of another placement than these rows have.
    let roundTrip = run.machine.roundTripNanoseconds.flatMap { nanoseconds in
      CorePlacement(roundTrip: nanoseconds) == placement
        ? ", round trip \(FigureFormat.number(nanoseconds)) ns" : nil
    }
    return
      "\(run.machine.cpu), \(run.machine.cores) cores (placement \(placement.rawValue)\(roundTrip ?? "")), "
      + "\(run.compiler), commit \(run.commit); medians"
  }

  private static func reactor(_ row: Row, _ results: [CellResult]) -> CellResult? {
    result(row, row.reactor, results)
  }

  /// A dash if it was not measured, or in another placement of the cores: then the two cannot be compared.
  private static func baseline(
    _ row: Row, _ variant: String, beside reactor: CellResult, _ results: [CellResult]
  ) -> String {
    guard let baseline = result(row, variant, results), baseline.placement == reactor.placement else {
      return "–"
    }
    return text(row, baseline, results)
  }

  private static func result(_ row: Row, _ variant: String, _ results: [CellResult]) -> CellResult? {
    results.first {
      $0.caseName == row.caseName && $0.variant == variant && $0.producers == row.threads
    }
  }

  /// The figure of a row, and that which stands behind it.
  private static func text(_ row: Row, _ shown: CellResult, _ results: [CellResult]) -> String {
    guard let name = row.beside else { return text(shown) }
    var other = row
    other.caseName = name
    return text(shown) + (result(other, shown.variant, results).map { ", " + text($0) } ?? "")
  }

  private static func text(_ result: CellResult) -> String {
    let figure = result.figure
    let range =
      figure.saysLittle(result.unit)
      ? " (\(text(figure.min, result.unit))–\(text(figure.max, result.unit)))" : ""
    let unit = result.unit == .ratio ? "" : " \(result.unit.rawValue)"
    return result.marks + text(figure.median, result.unit) + range + unit
  }

  private static func text(_ value: Double, _ unit: FigureUnit) -> String {
    switch unit {
    case .ratio: FigureFormat.percent(value)
    case .bytes: "\(Int(value.rounded()))"
    case .millionPerSecond, .nanoseconds, .perAction: FigureFormat.number(value)
    }
  }
}
