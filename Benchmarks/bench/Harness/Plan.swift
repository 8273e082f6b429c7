import BenchmarkSupport

/// What a run measures, in which groups.
struct Plan {
  let groups: [Group]
  let outlines: [CaseOutline]
  private let patterns: [String]

  /// Takes the cases that are asked for and the limits that bound them. A limit is measured again in every
  /// group that it bounds: only what was measured at the same time may be divided.
  init(_ catalogue: [Case], _ options: Options, cores: Int) {
    let cases = catalogue.filter { cores >= 2 || !$0.needsTwoCores }
    let asked = cases.filter { candidate in
      candidate.outline.resultNames.contains { CaseName.selects(options.cases, $0) }
    }
    let bounds = asked.compactMap(\.outline.limit?.name)
    let selected = cases.filter { candidate in
      asked.contains { $0.name == candidate.name } || bounds.contains(candidate.name)
    }
    outlines = selected.map(\.outline)

    let limits = selected.filter { $0.outline.kind == .limit }
    var groups: [Group] = []
    for compared in selected where compared.outline.kind != .limit && !compared.variants.isEmpty {
      let limit = limits.first { $0.name == compared.outline.limit?.name }
      for producers in compared.producers.map({ [$0] }) ?? options.producers {
        let cells = compared.variants.map { Cell(compared, $0, producers: producers) }
        groups.append(
          Group(
            title: "\(compared.name) P=\(producers)", cells, limit: limit.map(Self.cell),
            scale: compared.outline.limit?.scale ?? 1))
      }
    }
    let bounding = Set(groups.compactMap { $0.limit?.parent.name })
    for limit in limits where !bounding.contains(limit.name) {
      groups.append(Group(title: limit.name, [], limit: Self.cell(limit), scale: 1))
    }
    self.groups = groups
    patterns = options.cases
  }

  private static func cell(_ limit: Case) -> Cell {
    Cell(limit, limit.variants[0], producers: limit.producers ?? 1)
  }

  /// What was asked for, and each limit once, over all groups in which it was measured.
  var results: [CellResult] {
    let compared = groups.flatMap(\.results).filter { CaseName.selects(patterns, $0.caseName) }
    let limits = outlines.filter { $0.kind == .limit }.compactMap { outline in
      Cell(merging: groups.compactMap(\.limit).filter { $0.parent.name == outline.name })
    }
    return compared
      + limits.flatMap { limit in limit.results(CorePlacement.prevailing(in: limit.samples.map(\.placement)))
      }
  }
}
