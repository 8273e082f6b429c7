import BenchmarkSupport

/// One repetition of a cell.
struct Repetition {
  let measurement: Measurement
  let placement: CorePlacement
  /// The visit to its group in which it was measured, by its number in the whole run. So those of other groups are never taken for a
  /// pair.
  let round: Int
}

/// One variant of one case with one number of producers, and what was measured of it.
final class Cell {
  let parent: Case
  let variant: Variant
  let producers: Int
  private(set) var samples: [Repetition] = []
  var failure: String?
  /// The most actions per nanosecond of any repetition. Not that of the latest one: a baseline that has collapsed once
  /// may run at full speed the next time, and time limits end the repetitions that take too long.
  private var rate = 0.0

  init(_ parent: Case, _ variant: Variant, producers: Int) {
    self.parent = parent
    self.variant = variant
    self.producers = producers
  }

  /// The repetitions of the same thing in several groups; nil if there are no cells.
  convenience init?(merging cells: [Cell]) {
    guard let first = cells.first else { return nil }
    self.init(first.parent, first.variant, producers: first.producers)
    samples = cells.flatMap(\.samples)
    failure = cells.compactMap(\.failure).first
  }

  var description: String { "\(parent.name) \(variant.name) P=\(producers)" }

  /// Measures one repetition, and keeps only its rate. Throws ``Stalled`` if it does not end.
  @discardableResult
  func measure(
    _ request: RepetitionRequest, _ instruments: Instruments, on thread: MeasuringThread
  ) throws -> Measurement {
    let (measure, shape) = (variant.measure, parent.shape)
    let measurement = try thread.run(within: request.mostSecondsOfAll) {
      try measure(shape, request, instruments)
    }
    rate = max(rate, Double(measurement.actions) / max(1, measurement.nanoseconds))
    return measurement
  }

  func keep(_ repetition: Repetition) {
    samples.append(repetition)
  }

  /// The number of actions that will take about as long.
  func count(for nanoseconds: Double) -> Int {
    if case .latency(_, let interval) = parent.shape { return max(20, Int(nanoseconds / interval)) }
    return max(16 * producers, Int(rate * nanoseconds))
  }

  /// How much longer than usual a repetition takes. A sleeping consumer gets few items in a given time, and a percentile
  /// needs many. Readers share cores, and each must get its time on one.
  var patience: Double {
    switch parent.shape {
    case .latency(.parked, _), .readers: 4
    default: 1
    }
  }
}

/// Cells that are compared with each other. They take turns, so that all are measured while the machine is in the same
/// state.
final class Group {
  let title: String
  /// What is compared, and the limit, which is measured in the same rounds.
  let cells: [Cell]
  let limit: Cell?
  private let scale: Double
  private let asked: CorePlacement?

  /// - Parameter asked: The placement in which repetitions count if any has it.
  init(title: String, _ compared: [Cell], limit: Cell?, scale: Double, asked: CorePlacement?) {
    self.asked = asked
    self.title = title
    self.limit = limit
    self.scale = scale
    cells = compared + [limit].compactMap { $0 }
  }

  /// The placement that was asked for, or that of most repetitions of the group.
  var prevailing: CorePlacement {
    CorePlacement.prevailing(in: cells.flatMap { cell in cell.samples.map(\.placement) }, asked: asked)
  }

  /// Whether more rounds would help, since two of the cells have fewer than so many in common in which both were placed as prevails:
  /// their ratio is made of these. A cell that is measured again alone would have no partner.
  func isIncomplete(repetitions: Int) -> Bool {
    let prevailing = prevailing
    guard prevailing != .unknown else { return false }
    let rounds = cells.filter { $0.failure == nil }.map { cell in
      Set(cell.samples.filter { $0.placement == prevailing }.map(\.round))
    }
    return rounds.contains { one in rounds.contains { one.intersection($0).count < repetitions } }
  }

  var discarded: Int {
    cells.reduce(0) { $0 + $1.samples.count - $1.kept(prevailing).values.count }
  }

  /// How long its cells take if each repetition has its time.
  func plannedSeconds(_ options: Options) -> Double {
    cells.reduce(0) { $0 + $1.patience * options.seconds }
  }

  var record: GroupRecord {
    GroupRecord(
      title: title, kept: prevailing, all: cells.flatMap { cell in cell.samples.map(\.placement) },
      discarded: discarded)
  }

  /// The figures of what is compared, with their shares of the limit.
  var results: [CellResult] {
    let bounds = limit?.results(prevailing) ?? []
    return cells.filter { $0 !== limit }.flatMap { cell in
      cell.results(prevailing).map { result in
        var result = result
        if let bound = bound(of: result, of: cell, among: bounds), bound.placement == result.placement {
          result.limit = Figure(bound.figure.samples.map { $0 * scale }, rounds: bound.figure.rounds)
          result.shareOfLimit = result.unit.fraction(
            of: bound.figure.median * scale, reached: result.figure.median)
        }
        return result
      }
    }
  }

  /// The limit's only figure, or the one with the name of the result's part.
  private func bound(of result: CellResult, of cell: Cell, among bounds: [CellResult]) -> CellResult? {
    guard let limit, bounds.count > 1 else { return bounds.first }
    let part = result.caseName.dropFirst(cell.parent.name.count)
    return bounds.first { $0.caseName == limit.parent.name + part }
  }
}

extension Cell {
  func kept(_ prevailing: CorePlacement) -> Kept<Repetition> {
    Kept(samples.map { (value: $0, placement: $0.placement) }, prevailing: prevailing)
  }

  /// One result, or one per part; none if nothing could be measured.
  func results(_ prevailing: CorePlacement) -> [CellResult] {
    let kept = kept(prevailing)
    let allocations = Figure(
      kept.values.map(\.measurement).compactMap { measurement in
        measurement.allocations.map { Double($0) / Double(max(1, measurement.actions)) }
      })
    let items = kept.values.map(\.measurement.actions).min() ?? 0
    return figures(kept.values).compactMap { name, unit, figure in
      figure.map {
        CellResult(
          caseName: name, variant: variant.name, producers: producers, unit: unit, figure: $0,
          // The median, since a thread of the pool may count late what it allocated for another variant.
          allocationsPerAction: allocations?.median, placement: kept.placement, verified: failure == nil,
          isLowerBound: unit == .nanoseconds && kept.values.contains { $0.measurement.unsent != nil },
          isThin: parent.outline.kind == .latency
            && CaseOutline.isThin(String(name.dropFirst(parent.name.count + 1)), of: items))
      }
    }
  }

  private func figures(
    _ repetitions: [Repetition]
  ) -> [(name: String, unit: FigureUnit, figure: Figure?)] {
    func figure(_ value: (Measurement) -> Double?) -> Figure? {
      let found = repetitions.compactMap { one in value(one.measurement).map { (value: $0, round: one.round) }
      }
      return Figure(found.map(\.value), rounds: found.map(\.round))
    }
    let outline = parent.outline
    if !outline.parts.isEmpty {
      return outline.parts.map { part in
        (outline.resultName(part), part.unit, figure { $0.parts[part.name] })
      }
    }
    let isRate = parent.unit == .millionPerSecond
    return [
      (parent.name, parent.unit, figure { isRate ? $0.millionPerSecond : $0.nanosecondsPerAction })
    ]
  }
}
