import BenchmarkSupport
import CBenchmarkLimits
import Glibc

/// What a run measures, in groups.
struct Plan {
  let groups: [Group]
  let outlines: [CaseOutline]
  private let patterns: [String]
  private let placement: CorePlacement?

  /// Takes the cases that the command line selects, and the limits that bound them. A limit is measured again in each
  /// group that it bounds, since only figures from the same rounds may be divided.
  init(_ catalogue: [Case], _ options: Options, cores: Int) {
    let cases = catalogue.filter { cores >= 2 || !$0.needsTwoCores }
    let asked = cases.filter { candidate in
      // Curves take as long as all other cases, so no patterns select the others only.
      if options.cases.isEmpty, candidate.outline.curve != nil { return options.curves }
      return candidate.outline.resultNames.contains { CaseName.selects(options.cases, $0) }
    }
    let bounds = asked.compactMap(\.outline.limit?.name)
    let selected = cases.filter { candidate in
      asked.contains { $0.name == candidate.name } || bounds.contains(candidate.name)
    }
    outlines = selected.map(\.outline)
    placement = options.placement

    let limits = selected.filter { $0.outline.kind == .limit }
    var groups: [Group] = []
    for compared in selected where compared.outline.kind != .limit && !compared.variants.isEmpty {
      let limit = limits.first { $0.name == compared.outline.limit?.name }
      for producers in compared.producers.map({ [$0] }) ?? options.producers {
        let cells = compared.variants.map { Cell(compared, $0, producers: producers) }
        groups.append(
          Group(
            title: "\(compared.name) P=\(producers)", cells, limit: limit.map(Self.cell),
            scale: compared.outline.limit?.scale ?? 1, asked: options.placement))
      }
    }
    let bounding = Set(groups.compactMap { $0.limit?.parent.name })
    for limit in limits where !bounding.contains(limit.name) {
      groups.append(
        Group(title: limit.name, [], limit: Self.cell(limit), scale: 1, asked: options.placement))
    }
    self.groups = groups
    patterns = options.cases
  }

  private static func cell(_ limit: Case) -> Cell {
    Cell(limit, limit.variants[0], producers: limit.producers ?? 1)
  }

  /// The results of what the command line selects; and each limit over all groups in which it was measured, once for each
  /// placement of the cores in which it was: that in which most of its repetitions were comes first.
  var results: [CellResult] {
    let compared = groups.flatMap(\.results).filter { CaseName.selects(patterns, $0.caseName) }
    let limits = outlines.filter { $0.kind == .limit }.compactMap { outline in
      Cell(merging: groups.compactMap(\.limit).filter { $0.parent.name == outline.name })
    }
    return compared
      + limits.flatMap { limit in
        let placements = limit.samples.map(\.placement)
        let first = CorePlacement.prevailing(in: placements, asked: placement)
        // Where the cores moved counts only if there is nothing else.
        let others = CorePlacement.allCases.filter {
          $0 != first && $0 != .unknown && placements.contains($0)
        }
        return ([first] + others).flatMap { limit.results($0) }
      }
  }
}

extension Shape {
  /// How many items the first pass sends. If it checks their order, more than a ring holds, so that it begins anew: the timed
  /// repetitions compare counts and sums only, and would not find out that items are reordered after the first lap.
  func firstCount(checksOrder: Bool, quick: Bool) -> Int {
    let least = quick ? 16_384 : 65_536
    guard checksOrder else { return least }
    let capacity = if case .fanIn(_, let capacity) = self { capacity } else { ThreadedMeasurement.capacity }
    return max((quick ? 2 : 4) * capacity, least)
  }
}

/// Measures a plan, in rounds. In each round every group is visited, and there every cell is measured once, in an order that changes
/// from round to round. The first visit begins with a repetition of each cell that checks the order of items, and one that warms up and
/// calibrates.
///
/// The repetitions of a cell are spread over the whole run, since what is measured one right after the other agrees by more than it
/// should: the heap has the same layout, and the machine has the same neighbours. Measured so, two groups with the same work gave medians
/// up to 45 % apart, and none of their repetitions overlapped.
final class Runner {
  private let options: Options
  private let instruments: Instruments
  private let thread: MeasuringThread
  private let progress: Progress
  private(set) var roundTrips: [Double] = []
  /// Nanoseconds that may still be spent on waiting for the placement that was asked for.
  private var patience: Double
  private(set) var failures: [String] = []
  /// How many visits to groups there were.
  private var visits = 0

  init(
    _ options: Options, _ instruments: Instruments, on thread: MeasuringThread, _ progress: Progress
  ) {
    self.options = options
    self.instruments = instruments
    self.thread = thread
    self.progress = progress
    patience = options.patience * 1e9
  }

  /// Whether it has measured in other placements than the one that was asked for, since that did not come.
  var hasLostPatience: Bool { patience <= 0 }

  /// Measured time of one repetition, in nanoseconds.
  private var repetition: Double { options.seconds * 1e9 / Double(options.repetitions) }

  /// Additional rounds, which replace those of which repetitions must be discarded.
  private var extraRounds: Int { options.quick ? 1 : options.repetitions }

  /// Throws only if a repetition hangs, since nothing more can be measured in this process then, or ``Interruption/Asked``.
  func run(_ plan: Plan) throws {
    for round in 1...options.repetitions {
      for (index, group) in plan.groups.enumerated() {
        progress.enter(index, group.title, round: round)
        if round == 1 { try prepare(group) }
        try measure(group, inOrderOf: round)
      }
    }
    for extra in 1...extraRounds {
      for (index, group) in plan.groups.enumerated()
      where group.isIncomplete(repetitions: options.repetitions) {
        let round = options.repetitions + extra
        progress.enter(index, group.title, round: round)
        try measure(group, inOrderOf: round)
      }
    }
    progress.clear()
  }

  private func prepare(_ group: Group) throws {
    for cell in group.cells {
      progress.show(cell.variant.name, "checking")
      try attempt(cell) { try prepare(cell) }
    }
  }

  /// One repetition of each cell.
  private func measure(_ group: Group, inOrderOf round: Int) throws {
    visits += 1
    // What the group before has left in caches and in the heap would be paid for by the first one.
    let cells = group.cells.inOrder(ofRound: round)
    if round > 1, let first = cells.first(where: { $0.failure == nil }) {
      try attempt(first) { try first.measure(request(first, repetition / 8), instruments, on: thread) }
    }
    for cell in cells where cell.failure == nil {
      progress.show(cell.variant.name, "measuring")
      try attempt(cell) {
        let before = probeWhenAsked()
        let measurement = try cell.measure(
          request(cell, repetition * cell.patience), instruments, on: thread)
        let placement = CorePlacement(before: before, after: probe())
        cell.keep(Repetition(measurement: measurement, placement: placement, round: visits))
      }
    }
  }

  /// Checks the order of items, if the variant has one; then measures how much the cell does in the time of a repetition.
  private func prepare(_ cell: Cell) throws {
    guard cell.parent.shape.isCalibrated else { return }
    let first = RepetitionRequest(
      producers: cell.producers,
      count: cell.parent.shape.firstCount(checksOrder: cell.variant.hasOrder, quick: options.quick),
      reactors: cell.parent.shape.members(options), duration: repetition, timeLimit: 500_000_000,
      checksOrder: cell.variant.hasOrder)
    try cell.measure(first, instruments, on: thread)
    try cell.measure(request(cell, repetition / 4), instruments, on: thread)
  }

  private func request(_ cell: Cell, _ nanoseconds: Double) -> RepetitionRequest {
    RepetitionRequest(
      producers: cell.producers, count: cell.count(for: nanoseconds),
      reactors: cell.parent.shape.members(options), duration: nanoseconds,
      timeLimit: UInt64(max(4 * nanoseconds, 5_000_000)))
  }

  /// Waits for the placement that was asked for, while there is patience left over the whole run.
  private func probeWhenAsked() -> Double? {
    var roundTrip = probe()
    while let asked = options.placement, CorePlacement(roundTrip: roundTrip) != asked, patience > 0,
      !Interruption.isAsked
    {
      let start = bl_now_ns()
      usleep(2000)
      roundTrip = probe()
      patience -= Double(bl_now_ns() - start)
    }
    return roundTrip
  }

  private func probe() -> Double? {
    let nanoseconds = instruments.cpus.roundTrip()
    progress.show(CorePlacement(roundTrip: nanoseconds))
    if let nanoseconds { roundTrips.append(nanoseconds) }
    return nanoseconds
  }

  /// A wrong result ends the cell, but not the run.
  private func attempt(_ cell: Cell, _ body: () throws -> Void) throws {
    try endIfAsked()
    do {
      try body()
    } catch {
      // A child that has got the signal before it ignored it fails for that.
      if !(error is Stalled) { try endIfAsked() }
      let failure = "\(cell.description): \(error)"
      cell.failure = failure
      failures.append(failure)
      progress.clear()
      if error is Stalled { throw error }
    }
  }

  /// Throws if a signal has asked for the end of the run.
  private func endIfAsked() throws {
    do {
      try Interruption.check()
    } catch {
      progress.clear()
      throw error
    }
  }
}
