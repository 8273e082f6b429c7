import BenchmarkSupport
import CBenchmarkLimits

/// Measures a plan: for each group a pass that checks order, one that warms up and calibrates, then rounds
/// in which every cell of the group is measured once.
final class Runner {
  private let options: Options
  private let instruments: Instruments
  private let progress: Progress
  private(set) var roundTrips: [Double] = []
  private(set) var failures: [String] = []

  init(_ options: Options, _ instruments: Instruments, _ progress: Progress) {
    self.options = options
    self.instruments = instruments
    self.progress = progress
  }

  /// Measured time of one repetition, in nanoseconds.
  private var repetition: Double { options.seconds * 1e9 / Double(options.repetitions) }

  /// Rounds beyond the planned ones, for repetitions that must be discarded.
  private var extraRounds: Int { options.quick ? 1 : options.repetitions }

  /// Throws only when a repetition hangs: then nothing more can be measured in this process.
  func run(_ plan: Plan) throws {
    for (index, group) in plan.groups.enumerated() {
      progress.enter("\(index + 1)/\(plan.groups.count) \(group.title)")
      try run(group)
    }
    progress.clear()
  }

  private func run(_ group: Group) throws {
    for cell in group.cells {
      progress.show(cell.variant.name, "checking")
      try attempt(cell) { try prepare(cell) }
    }
    for round in 1...options.repetitions {
      try measure(group.cells, "round \(round)/\(options.repetitions)")
    }
    for round in 1...extraRounds {
      let incomplete = group.incomplete(repetitions: options.repetitions)
      if incomplete.isEmpty { break }
      try measure(incomplete, "extra round \(round)/\(extraRounds)")
    }
  }

  private func measure(_ cells: [Cell], _ round: String) throws {
    for cell in cells where cell.failure == nil {
      progress.show(cell.variant.name, round)
      try attempt(cell) {
        let before = probe()
        let measurement = try cell.measure(request(cell, repetition * cell.patience), instruments)
        cell.keep(measurement, CorePlacement(before: before, after: probe()))
      }
    }
  }

  /// Checks order where there is one, then learns how much the cell does in a repetition's time.
  private func prepare(_ cell: Cell) throws {
    guard cell.parent.shape.isCalibrated else { return }
    let first = RepetitionRequest(
      producers: cell.producers, count: options.quick ? 16_384 : 65_536, reactors: options.reactors,
      duration: repetition, timeLimit: 500_000_000, checksOrder: cell.variant.hasOrder)
    try cell.measure(first, instruments)
    try cell.measure(request(cell, repetition / 4), instruments)
  }

  private func request(_ cell: Cell, _ nanoseconds: Double) -> RepetitionRequest {
    RepetitionRequest(
      producers: cell.producers, count: cell.count(for: nanoseconds), reactors: options.reactors,
      duration: nanoseconds, timeLimit: UInt64(max(4 * nanoseconds, 5_000_000)))
  }

  private func probe() -> Double? {
    let nanoseconds = instruments.cpus.roundTrip()
    if let nanoseconds { roundTrips.append(nanoseconds) }
    return nanoseconds
  }

  /// A wrong result ends the cell, not the run.
  private func attempt(_ cell: Cell, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      let failure = "\(cell.description): \(error)"
      cell.failure = failure
      failures.append(failure)
      progress.clear()
      if error is Stalled { throw error }
    }
  }
}
