import BenchmarkSupport

/// One variant of one case with one number of producers, and what was measured of it.
final class Cell {
  let parent: Case
  let variant: Variant
  let producers: Int
  private(set) var samples: [(value: Measurement, placement: CorePlacement)] = []
  var failure: String?
  /// The most actions per nanosecond that were seen. The best and not the latest: a baseline that has
  /// collapsed once may run at full speed the next time, and time limits catch what overruns.
  private var rate = 0.0

  init(_ parent: Case, _ variant: Variant, producers: Int) {
    self.parent = parent
    self.variant = variant
    self.producers = producers
  }

  /// All that was measured of one thing in several groups; nil for no cells.
  convenience init?(merging cells: [Cell]) {
    guard let first = cells.first else { return nil }
    self.init(first.parent, first.variant, producers: first.producers)
    samples = cells.flatMap(\.samples)
    failure = cells.compactMap(\.failure).first
  }

  var description: String { "\(parent.name) \(variant.name) P=\(producers)" }

  /// Measures once, without keeping anything but the rate.
  @discardableResult
  func measure(_ request: RepetitionRequest, _ instruments: Instruments) throws -> Measurement {
    let measurement = try variant.measure(parent.shape, request, instruments)
    rate = max(rate, Double(measurement.actions) / max(1, measurement.nanoseconds))
    return measurement
  }

  func keep(_ measurement: Measurement, _ placement: CorePlacement) {
    samples.append((measurement, placement))
  }

  /// Actions that will take about so long.
  func count(for nanoseconds: Double) -> Int {
    if case .latency(let consumer) = parent.shape {
      return max(20, Int(nanoseconds / LatencyMeasurement.interval(consumer)))
    }
    return max(16 * producers, Int(rate * nanoseconds))
  }

  /// How many times the usual time a repetition gets. Latencies to a sleeping consumer are few in a given
  /// time, and a percentile needs many; readers share cores, and each must get its turn.
  var patience: Double {
    switch parent.shape {
    case .latency(.parked), .readers: 4
    default: 1
    }
  }
}

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
  var prevailing: CorePlacement {
    CorePlacement.prevailing(in: cells.flatMap { cell in cell.samples.map(\.placement) })
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
    let bounds = limit?.results(prevailing) ?? []
    return cells.filter { $0 !== limit }.flatMap { cell in
      cell.results(prevailing).map { result in
        var result = result
        if let bound = bound(of: result, of: cell, among: bounds), bound.placement == result.placement {
          result.shareOfLimit = result.unit.fraction(
            of: bound.figure.median * scale, reached: result.figure.median)
        }
        return result
      }
    }
  }

  /// The limit's only figure, or that of the same name as the result's part.
  private func bound(of result: CellResult, of cell: Cell, among bounds: [CellResult]) -> CellResult? {
    guard let limit, bounds.count > 1 else { return bounds.first }
    let part = result.caseName.dropFirst(cell.parent.name.count)
    return bounds.first { $0.caseName == limit.parent.name + part }
  }
}

extension Cell {
  func kept(_ prevailing: CorePlacement) -> Kept<Measurement> {
    Kept(samples, prevailing: prevailing)
  }

  /// One result, or one per percentile; none if nothing could be measured.
  func results(_ prevailing: CorePlacement) -> [CellResult] {
    let kept = kept(prevailing)
    let allocations = Figure(
      kept.values.compactMap { measurement in
        measurement.allocations.map { Double($0) / Double(max(1, measurement.actions)) }
      })
    return figures(kept.values).compactMap { name, unit, figure in
      figure.map {
        CellResult(
          caseName: name, variant: variant.name, producers: producers, unit: unit, figure: $0,
          // The median, since a pool's thread may count late what it did for another variant.
          allocationsPerAction: allocations?.median, placement: kept.placement, verified: failure == nil)
      }
    }
  }

  private func figures(
    _ measurements: [Measurement]
  ) -> [(name: String, unit: FigureUnit, figure: Figure?)] {
    let outline = parent.outline
    if !outline.parts.isEmpty {
      return outline.parts.map { part in
        (outline.resultName(part), part.unit, Figure(measurements.compactMap { $0.parts[part.name] }))
      }
    }
    let values = measurements.map {
      parent.unit == .millionPerSecond ? $0.millionPerSecond : $0.nanosecondsPerAction
    }
    return [(parent.name, parent.unit, Figure(values))]
  }
}
