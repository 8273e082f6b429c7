import BenchmarkSupport
import Glibc
import ReactorRuntime
import Synchronization

/// Whether the harness checks the order of items beyond the first lap of a ring, and how a run ends early.
extension SelfTest {
  // MARK: Order

  /// Swaps two items, after as many as a ring holds.
  private final class SwappingSubject: FanInSubject {
    private static var swapped: UInt64 { UInt64(ThreadedMeasurement.capacity) + 1 }
    private let tally: Mutex<Tally>

    init(_ setup: SubjectSetup) { tally = Mutex(Tally(inspector: setup.inspector)) }

    func produce(producer: Int, values: Range<UInt64>) {
      for value in values {
        let sent =
          switch value {
          case Self.swapped: value + 1
          case Self.swapped + 1: value - 1
          default: value
          }
        tally.withLock { $0.reduce(Item(producer: UInt64(producer), value: sent)) }
      }
    }

    func awaitTotals(_ quota: Quota) throws -> Totals {
      try quota.awaitProducers()
      return tally.withLock { $0.totals }
    }
  }

  /// By the first pass of a case, which checks the order.
  static func swapIsNoticed() throws -> Bool {
    for isQuick in [true, false] {
      let shape = Shape.fanIn(.busy)
      var first = request(
        count: shape.firstCount(checksOrder: true, quick: isQuick), nanoseconds: 0, timeLimit: 60_000_000_000)
      first.checksOrder = true
      do {
        _ = try ThreadedMeasurement.fanIn(
          SwappingSubject.self, .busy, capacity: ThreadedMeasurement.capacity, first,
          Instruments.ofThisMachine())
        return false
      } catch is SubjectFailure {}
    }
    return true
  }

  // MARK: Hanging

  /// A child that finds out by itself that a repetition hangs must be able to say so, and the parent to replace one that does not.
  static func childIsWaitedFor() throws -> Bool {
    let one = request(nanoseconds: 5e7, timeLimit: 200_000_000)
    return one.mostSeconds < one.mostSecondsOfChild && one.mostSecondsOfChild < one.mostSecondsOfAll
  }

  // MARK: Placement

  /// Or the subject says that its consumer is not placed, so that its producers are not either.
  static func loopsArePlaced() throws -> Bool {
    guard CoreSubject.floats, JournalSubject<SmallTally>.floats, let cpu = CPUSet.allowed().cpus.last else {
      return false
    }
    let setup = SubjectSetup(producers: 1, capacity: 16, consumer: .spinning, consumerCPU: cpu)
    guard let loop = try AsksLoop.makeLoop(setup) else { return false }
    defer { loop.shutdown() }
    let seen = Handover<[Int32]>()
    try loop.execute { seen.give(CPUSet.allowed().cpus) }
    return seen.wait(atMost: 60) == [cpu]
  }

  // MARK: Ending early

  /// Before anything else is measured, and without a failure.
  static func signalEndsTheRun() throws -> Bool {
    let options = Options(quick: true, cores: 1)
    let instruments = Instruments.ofThisMachine()
    let plan = Plan(Catalogue.cases, options, cores: 1)
    let runner = Runner(
      options, instruments, on: try MeasuringThread(),
      Progress(plan.groups, options))
    Interruption.watch()
    raise(SIGTERM)
    do {
      try runner.run(plan)
      return false
    } catch let asked as Interruption.Asked {
      return asked.status == 143 && runner.failures.isEmpty && plan.results.isEmpty
    }
  }

  // MARK: Rounds

  /// Each is the first one of a round, and what was measured in one round has its number, with each of them. From the second round on, the
  /// first one begins with a repetition that does not count.
  static func membersTakeTurns() throws -> Bool {
    let order = Mutex<[String]>([])
    let names = ["first", "second", "third"]
    let variants = names.map { name in
      Variant(name: name, hasOrder: false) { _, _, _ in
        order.withLock { $0.append(name) }
        return Measurement(nanoseconds: 1e6, actions: 1000)
      }
    }
    let options = Options(quick: true, cores: 1)
    let plan = Plan([Case("turns", .latency(.busy, interval: 1), variants: variants)], options, cores: 1)
    let runner = Runner(
      options, Instruments.ofThisMachine(), on: try MeasuringThread(),
      Progress(plan.groups, options))
    try runner.run(plan)
    let measured = order.withLock { $0 }
    let begins = stride(from: names.count, to: measured.count, by: names.count + 1)
    let firsts = [measured[0]] + begins.map { measured[$0] }
    guard begins.allSatisfy({ measured[$0] == measured[$0 + 1] }) else { return false }
    let rounds = plan.groups.flatMap(\.cells).map { $0.samples.map(\.round) }
    return Set(firsts) == Set(names) && Set(rounds).count == 1 && rounds[0] == Array(1...rounds[0].count)
  }

  // MARK: Comparing

  /// A name that no variant has would make a baseline one of ours.
  static func baselinesAreMeasured() throws -> Bool {
    let names = Set(Catalogue.cases.flatMap { $0.variants.map(\.name) })
    return CellResult.baselines.isSubset(of: names)
  }
}
