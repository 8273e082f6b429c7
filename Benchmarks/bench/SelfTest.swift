import BenchmarkSupport
import CBenchmarkLimits
import Dispatch
import ReactorJournal
import ReactorRuntime
import Synchronization

/// Whether the harness notices subjects that are wrong, and times the same work for all: with subjects that are known to be so.
enum SelfTest {
  /// A sentence for each thing that was not noticed.
  static func problems() -> [String] {
    [
      ("waiting counts", waitingCounts), ("a repetition is as long as it is to be", shortPartsAreRepeated),
      ("the first actions do not count", firstActionsDoNotCount), ("nothing is read", nothingIsRead),
      ("a swap after the first lap is noticed", swapIsNoticed),
      ("a lost write is noticed", lostWriteIsNoticed), ("a lost action is noticed", lostActionIsNoticed),
      ("an age is a latency", agesAreLatencies), ("what was not sent counts", unsentCounts),
      ("a repetition that hangs is given up", hangIsGivenUp),
      ("a journal's records are read", changedRecordIsNoticed),
      ("a baseline is a variant of some case", baselinesAreMeasured),
      ("a loop is on the CPU of its consumer", loopsArePlaced),
      ("a child has more time than it gives itself", childIsWaitedFor),
      ("the members of a group take turns", membersTakeTurns),
      // The last one, since the signal is noted.
      ("a signal ends the run", signalEndsTheRun),
    ].compactMap { name, test in
      do {
        return try test() ? nil : "self-test: it is not so that \(name)"
      } catch {
        return "self-test: \(name): \(error)"
      }
    }
  }

  static func request(
    count: Int = 0, members: Int = 8, nanoseconds: Double, timeLimit: UInt64 = 0
  ) -> RepetitionRequest {
    RepetitionRequest(
      producers: 1, count: count, reactors: members, duration: nanoseconds, timeLimit: timeLimit)
  }

  // MARK: Many

  /// Members that have their additions only when they are waited for.
  private final class LatePopulation: Population {
    static let members = 8
    /// As long as a stint is to be at least, so that none is made longer.
    static let delay: UInt64 = 10_000_000
    private let states: Mutex<[ReadState]>
    private let waiting = Mutex<[(index: Int, value: UInt64)]>([])

    init(count: Int, cores: Int) { states = Mutex(Array(repeating: ReadState(), count: count)) }

    func make() {}
    func visit(_ order: VisitingOrder) {
      for (index, round) in order { waiting.withLock { $0.append((index, UInt64(round + 1))) } }
    }

    func awaitAdditions(_ each: Int, until deadline: UInt64) -> UInt64 {
      let start = bl_now_ns()
      while bl_now_ns() < start + Self.delay {}
      let done = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      states.withLock { states in for (index, value) in done { states[index].add(value) } }
      return bl_now_ns()
    }

    func readAll(_ body: (ReadState) -> Void) { states.withLock { $0 }.forEach(body) }
    func end() {}
  }

  /// Each timed part contains the time until its actions were reduced.
  private static func waitingCounts() throws -> Bool {
    let measured = try ScaleShape.keyed.run(
      LatePopulation.self, request(nanoseconds: 0), Instruments.ofThisMachine())
    let (members, delay) = (Double(LatePopulation.members), Double(LatePopulation.delay))
    return measured.parts["making", default: 0] * members >= delay
      && measured.parts["alone", default: 0] * 3 * members >= delay && measured.nanoseconds >= delay
  }

  /// With the same actions again: one round of them takes less than half of this.
  private static func shortPartsAreRepeated() throws -> Bool {
    let delay = Double(LatePopulation.delay)
    for (shape, actions) in [(ScaleShape.busy, 10), (.keyed, 6)] {
      let measured = try shape.run(
        LatePopulation.self, request(nanoseconds: 2.5 * delay), Instruments.ofThisMachine())
      let (each, rest) = measured.actions.quotientAndRemainder(dividingBy: actions * LatePopulation.members)
      guard rest == 0, measured.nanoseconds >= 2.5 * delay, measured.nanoseconds >= Double(each) * delay
      else { return false }
    }
    return true
  }

  /// What each member does once is a figure of its own.
  private static func firstActionsDoNotCount() throws -> Bool {
    let measured = try ScaleShape.busy.run(
      LatePopulation.self, request(nanoseconds: 0), Instruments.ofThisMachine())
    let (actions, delay) = (10 * LatePopulation.members, Double(LatePopulation.delay))
    guard measured.actions == actions, let first = measured.parts["first"] else { return false }
    return first > 0 && first <= Double(actions) / delay * 1e3
  }

  /// Reactors on their senders' threads are not waited for, as mutexes are not: not even if they lack something.
  private static func nothingIsRead() throws -> Bool {
    let population = try ReactorPopulation<CallerHost>(count: 1, cores: 1)
    population.make()
    _ = try population.awaitAdditions(1, until: 0)
    let keyed = try KeyedReactorPopulation<CallerHost>(count: 1, cores: 1)
    _ = try keyed.awaitAdditions(1, until: 0)
    let group = try ReactorPopulation<GroupHost>(count: 1, cores: 1)
    defer { group.end() }
    group.make()
    do {
      _ = try group.awaitAdditions(1, until: bl_now_ns())
      return false
    } catch is Stalled {
      return true
    }
  }

  // MARK: States of some size

  /// Counts every change, and leaves one in a thousand out.
  private final class LosingSubject: ElementSubject {
    private let state: Mutex<LongArrayState>

    init(count: Int) { state = Mutex(LongArrayState(count: count)) }

    func change(_ times: Int, _ keys: inout KeySequence) {
      for _ in 0..<times {
        let key = keys.next()
        state.withLock { state in
          let next = state.changes &+ 1
          state.set(key, to: next.isMultiple(of: 1000) ? state.value(of: key) : next)
        }
      }
    }

    func read(_ key: Int, _ body: (ElementNote) -> Void) {
      body(state.withLock { ElementNote(changes: $0.changes, mark: $0.mark, value: $0.value(of: key)) })
    }
  }

  private static func lostWriteIsNoticed() throws -> Bool {
    // So many elements that the last one that was left out has not been written since.
    let request = request(members: 4096, nanoseconds: 1e6)
    let shape = SizedStateShape(count: request.reactors)
    _ = try shape.run(ElementReactorSubject<LongArrayState, ReplayedOnCaller>.self, request)
    _ = try shape.run(ElementActorBaseline<LongArrayState>.self, request)
    do {
      _ = try shape.run(LosingSubject.self, request)
      return false
    } catch is SubjectFailure {
      return true
    }
  }

  /// A mailbox that drops what it has no room for.
  private enum DroppingOnLoop: ElementReactorWay {
    static var usesLoop: Bool { true }
    static func runtime<Action, Mutation, State>(
      on placement: Placement
    ) -> Runtime<Action, Mutation, State> {
      Runtime(on: placement, capacity: 2, overflow: .dropNewest, onFailure: { _ in })
    }
  }

  private static func lostActionIsNoticed() throws -> Bool {
    let subject = try ElementReactorSubject<LongArrayState, DroppingOnLoop>(count: 16)
    var keys = KeySequence(count: 16, seed: 1)
    subject.change(100_000, &keys)
    do {
      try subject.finishChanges(until: bl_now_ns())
      return false
    } catch is Stalled {
      return true
    }
  }

  // MARK: Latency under load

  /// Also if a counter is behind, and if more arrives than was to be sent.
  private static func agesAreLatencies() -> Bool {
    let inspector = Inspector.latency(count: 2)
    let now = bl_ticks()
    for due in [now - 1_000_000, now + 1 << 40, now + 1 << 41] {
      inspector.inspect(Item(producer: 0, value: due))
    }
    let latencies = inspector.latencies(and: nil, nanosecondsPerTick: 1)
    return latencies.count == 2 && latencies.percentile(0.5) == 0 && latencies.maximum >= 1_000_000
      && inspector.orderViolations == 0
  }

  /// Takes a microsecond for each item, on the thread of the sender.
  private final class SlowSubject: FanInSubject {
    private let tally: Mutex<Tally>

    init(_ setup: SubjectSetup) { tally = Mutex(Tally(inspector: setup.inspector)) }

    func produce(producer: Int, values: Range<UInt64>) {
      for value in values {
        let start = bl_now_ns()
        while bl_now_ns() < start + 1000 {}
        tally.withLock { $0.reduce(Item(producer: 0, value: value)) }
      }
    }

    func awaitTotals(_ quota: Quota) throws -> Totals {
      try quota.awaitProducers()
      return tally.withLock { $0.totals }
    }
  }

  /// 40,000 items are due within 2 ms, of which at most half are sent until the sender gives up, about 20 ms later. So if all
  /// count, more than half were late by nearly as much as the latest one; and by half as much, if only those that were sent count.
  private static func unsentCounts() throws -> Bool {
    let count = 40_000
    // Repeated, since the sender may be off its core when the items become due, and give up too early then.
    for _ in 0..<5 {
      let measured = try LatencyMeasurement.run(
        SlowSubject.self, .spinning, every: 50,
        request(count: count, nanoseconds: 2e6, timeLimit: 20_000_000), Instruments.ofThisMachine())
      // Quotas round up.
      guard let unsent = measured.unsent, unsent + measured.actions >= count else { return false }
      if measured.parts["p50", default: 0] > 0.75 * measured.parts["max", default: .infinity] { return true }
    }
    return false
  }

  // MARK: Hanging

  private static func hangIsGivenUp() throws -> Bool {
    let thread = try MeasuringThread()
    guard try thread.run(within: 60, { 1 }) == 1 else { return false }
    do {
      _ = try thread.run(within: 60) { () throws -> Int in throw SubjectFailure("wrong") }
      return false
    } catch is SubjectFailure {}
    let isOver = DispatchSemaphore(value: 0)
    // So that it ends.
    defer { isOver.signal() }
    do {
      try thread.run(within: 0.01) { isOver.wait() }
      return false
    } catch is Stalled {
      return true
    }
  }

  // MARK: Journals

  /// Writes another value than its own.
  private struct ChangedRecord: TallyRecord {
    let item: Item

    init(item: Item) { self.item = item }

    func encode(into encoder: inout RecordEncoder) { encoder.append(item.value &+ 1) }

    init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
      item = Item(producer: 1, value: try decoder.read())
    }
  }

  private static func changedRecordIsNoticed() throws -> Bool {
    _ = try JournalEncoding.run(SmallRecord.self, count: 1000)
    do {
      _ = try JournalEncoding.run(ChangedRecord.self, count: 1000)
      return false
    } catch is SubjectFailure {
      return true
    }
  }
}
