/// The results for people: a table or more per case, one for the machine's limits, and one for what is promised.
package struct TextReport: Sendable {
  private let outlines: [CaseOutline]
  private let results: [CellResult]

  package init(_ outlines: [CaseOutline], _ results: [CellResult]) {
    self.outlines = outlines
    self.results = results
  }

  package func rendered(width: Int = 120) -> String {
    (tables + [limits, Targets.table(results)].compactMap { $0 }).map { $0.rendered(width: width) }
      .joined(separator: "\n")
  }

  /// The tables of the cases.
  var tables: [Table] {
    outlines.filter { $0.kind != .limit && $0.curve == nil }.flatMap { tables(of: $0) }
      + outlines.compactMap(\.curve?.name).uniqued().flatMap { tables(ofCurve: $0) }
  }

  private func tables(of outline: CaseOutline) -> [Table] {
    guard outline.kind == .readers else { return [table(of: outline)].compactMap { $0 } }
    return outline.parts.compactMap { part in
      let name = outline.resultName(part)
      return table(
        of: outline, results.filter { $0.caseName == name }, title: "\(name) · \(part.meaning)")
    }
  }

  private func table(of outline: CaseOutline) -> Table? {
    let own = results.filter { outline.resultNames.contains($0.caseName) }
    var table = table(of: outline, own, title: title(of: outline))
    if !outline.partsAreColumns, let variants = table?.labels {
      table?.columns.append(allocations(variants, own))
    }
    return table
  }

  private func table(of outline: CaseOutline, _ own: [CellResult], title: String) -> Table? {
    guard !own.isEmpty else { return nil }
    let variants = own.map(\.variant).uniqued()
    let columns = keys(of: outline, own).map { key in
      column(key, outline, variants, own.filter { self.key(of: $0, outline) == key })
    }
    return Table(title: title, labels: variants, columns: columns)
  }

  private func title(of outline: CaseOutline) -> String {
    let what =
      switch outline.kind {
      case .throughput: "M actions/s"
      case .latency: "ns from the scheduled time to reduced"
      case .scale: "of many: bytes and ns for each, M actions/s of all together"
      case .sizes: "ns per change, M reads/s"
      case .time, .limit, .readers: "ns per action"
      case .race: "M items/s, or ns"
      }
    guard let limit = outline.limit else { return "\(outline.name) · \(what)" }
    let share = limit.scale == 1 ? "" : "\(FigureFormat.number(limit.scale)) × "
    return "\(outline.name) · \(what) · limit: \(share)\(limit.name)"
  }

  // MARK: Columns

  private func keys(of outline: CaseOutline, _ own: [CellResult]) -> [String] {
    if outline.partsAreColumns {
      outline.resultNames.filter { name in own.contains { $0.caseName == name } }
    } else {
      own.map(\.producers).uniqued().sorted().map(String.init)
    }
  }

  private func key(of result: CellResult, _ outline: CaseOutline) -> String {
    outline.partsAreColumns ? result.caseName : String(result.producers)
  }

  private func column(
    _ key: String, _ outline: CaseOutline, _ variants: [String], _ cells: [CellResult]
  ) -> Table.Column {
    let name =
      switch outline.kind {
      case .throughput, .race: "P=\(key)"
      case .readers: "R=\(key)"
      case .latency, .scale, .sizes: String(key.dropFirst(outline.name.count + 1))
      case .time, .limit: "1 thread"
      }
    return column(name, variants, cells, hasLimit: outline.limit != nil)
  }

  private func column(
    _ name: String, _ variants: [String], _ cells: [CellResult], hasLimit: Bool
  ) -> Table.Column {
    let placement = CorePlacement.prevailing(in: cells.map(\.placement))
    let reference = cells.first { $0.variant == variants.first }
    return Table.Column(
      header: "\(name) \(placement.rawValue)",
      cells: variants.map { variant in
        guard let cell = cells.first(where: { $0.variant == variant }) else { return ["–"] }
        return lines(of: cell, reference, placement, hasLimit: hasLimit)
      })
  }

  /// The figure; below it, the ratio of its median to that of the first variant, and to the limit. A question mark means that the
  /// cores were placed in another way than for the rest of the column; for the others see `CellResult.marks`. A ratio says as little
  /// as each of the two that it is made of.
  private func lines(
    of cell: CellResult, _ reference: CellResult?, _ placement: CorePlacement, hasLimit: Bool
  ) -> [String] {
    let mark = cell.verified ? (cell.placement == placement ? "" : "?") : "WRONG "
    let figure = mark + cell.marks + FigureFormat.figure(cell.figure, cell.unit)
    guard cell.unit.isCompared else { return [figure] }
    // Nobody reads while there are no readers: nothing can be divided by that.
    let base = reference.flatMap { $0.figure.median > 0 ? $0 : nil }
    let ratio = FigureFormat.ratio(
      base.map { cell.figure.median / $0.figure.median },
      saysLittle: cell.saysLittle || base?.saysLittle == true)
    guard hasLimit else { return [figure, ratio] }
    let share = FigureFormat.percent(
      cell.shareOfLimit, saysLittle: cell.saysLittle || cell.limit?.saysLittle(cell.unit) == true)
    return [figure, "\(ratio) \(share)"]
  }

  /// Per action: the most that was counted in any column.
  private func allocations(_ variants: [String], _ own: [CellResult]) -> Table.Column {
    Table.Column(
      header: "allocs",
      cells: variants.map { variant in
        let counted = own.filter { $0.variant == variant }.compactMap(\.allocationsPerAction)
        return [FigureFormat.allocations(counted.max())]
      })
  }

  // MARK: Curves

  /// A table for each part of the curve's cases, with a column for each point.
  private func tables(ofCurve name: String) -> [Table] {
    let points = outlines.filter { $0.curve?.name == name }
    guard let first = points.first, let curve = first.curve else { return [] }
    let parts: [CaseOutline.Part?] = first.parts.isEmpty ? [nil] : first.parts
    return parts.compactMap { part in
      let cells = points.map { point in
        results.filter { $0.caseName == part.map(point.resultName) ?? point.name }
      }
      let variants = cells.joined().map(\.variant).uniqued()
      guard !variants.isEmpty else { return nil }
      let unit = part?.unit.rawValue ?? (first.kind == .throughput ? "M actions/s" : "ns per action")
      let columns = zip(points, cells).map { point, cells in
        column("\(point.curve?.x ?? 0)", variants, cells, hasLimit: false)
      }
      let title = part.map { "\(name).*.\($0.name)" } ?? "\(name).*"
      return Table(title: "\(title) · \(unit), by \(curve.axis)", labels: variants, columns: columns)
    }
  }

  // MARK: Limits

  /// Nil if none was measured.
  var limits: Table? {
    let names = outlines.filter { $0.kind == .limit }.flatMap(\.resultNames)
    let own = results.filter { names.contains($0.caseName) }
    guard !own.isEmpty else { return nil }
    func column(_ text: (CellResult) -> String) -> Table.Column {
      Table.Column(header: "", cells: own.map { [text($0)] })
    }
    return Table(
      title: "The machine's limits: median (min–max)", labels: own.map(\.caseName),
      columns: [
        column { ($0.verified ? "" : "WRONG ") + $0.marks + FigureFormat.figure($0.figure, $0.unit) },
        column(\.unit.rawValue), column(\.placement.rawValue),
      ])
  }
}

extension Sequence where Element: Hashable {
  /// Each element once, in the order of its first appearance.
  package func uniqued() -> [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
