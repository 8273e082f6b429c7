import BenchmarkSupport

/// Cells that are compared with each other: they take turns, so that all see the machine in the same state.
final class Group {
  let title: String
  /// What is compared, and the limit that is measured along.
  let cells: [Cell]
  let limit: Cell?
  private let scale: Double

  init(title: String, _ compared: [Cell], limit: Cell?, scale: Double) {
    self.title = title
    self.limit = limit
    self.scale = scale
    cells = compared + [limit].compactMap { $0 }
  }

  /// The placement in which the group as a whole was measured most.
  var prevailing: Placement {
    Placement.prevailing(in: cells.flatMap { cell in cell.samples.map(\.placement) })
  }

  /// The cells that lack repetitions of the prevailing placement.
  func incomplete(repetitions: Int) -> [Cell] {
    let prevailing = prevailing
    guard prevailing != .unknown else { return [] }
    return cells.filter { cell in
      cell.failure == nil && cell.samples.filter { $0.placement == prevailing }.count < repetitions
    }
  }

  var discarded: Int {
    cells.reduce(0) { $0 + $1.samples.count - $1.kept(prevailing).values.count }
  }

  /// The figures of what is compared, with their shares of the limit.
  var results: [CellResult] {
    let bound = limit?.results(prevailing).first
    return cells.filter { $0 !== limit }.flatMap { cell in
      cell.results(prevailing).map { result in
        var result = result
        if let bound, bound.placement == result.placement {
          result.shareOfLimit = result.unit.fraction(
            of: bound.figure.median * scale, reached: result.figure.median)
        }
        return result
      }
    }
  }
}

extension Cell {
  func kept(_ prevailing: Placement) -> Kept<Measurement> {
    Kept(samples, prevailing: prevailing)
  }

  /// One result, or one per percentile; none if nothing could be measured.
  func results(_ prevailing: Placement) -> [CellResult] {
    let kept = kept(prevailing)
    let allocations = Figure(
      kept.values.compactMap { measurement in
        measurement.allocations.map { Double($0) / Double(max(1, measurement.actions)) }
      })
    return figures(kept.values).compactMap { name, figure in
      figure.map {
        CellResult(
          caseName: name, variant: variant.name, producers: producers, unit: parent.unit, figure: $0,
          // The median, since a pool's thread may count late what it did for another variant.
          allocationsPerAction: allocations?.median, placement: kept.placement, verified: failure == nil)
      }
    }
  }

  private func figures(_ measurements: [Measurement]) -> [(name: String, figure: Figure?)] {
    switch (parent.outline.kind, parent.unit) {
    case (.latency, _):
      zip(parent.outline.resultNames, CaseOutline.percentiles).map { name, percentile in
        let values = measurements.compactMap { $0.latencies?.percentile(percentile.fraction) }
        return (name, Figure(values.map { Double($0) }))
      }
    case (_, .millionPerSecond): [(parent.name, Figure(measurements.map(\.millionPerSecond)))]
    case (_, .nanoseconds): [(parent.name, Figure(measurements.map(\.nanosecondsPerAction)))]
    }
  }
}
