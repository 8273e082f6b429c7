import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits
import Dispatch
import Synchronization

/// Very many small subjects, each with a ``ReadState`` of its own. One instance serves one repetition.
protocol Population: AnyObject, Sendable {
  /// Without members, and with room for `count`.
  init(count: Int, cores: Int) throws

  /// Makes the members. Called by one thread, before the others start.
  func make() throws

  /// Bytes of the object of one member, without what it refers to; nil if that is not asked for.
  var objectBytes: Int? { get }

  /// Adds the round's number, from 1 on, to each member that the order names. Called by several threads at once.
  func visit(_ order: VisitingOrder)

  /// Returns when each member has had `each` additions, and since when that is so. Called when the last visitor has returned
  /// from ``visit(_:)``, on its thread: where the visitors add themselves there is nothing to wait for, and nothing is read.
  func awaitAdditions(_ each: Int, until deadline: UInt64) throws -> UInt64

  /// Calls `body` with the state of each member, after all additions.
  func readAll(_ body: (ReadState) -> Void)

  /// Releases the members, and ends the threads that serve them. Called by one thread, after the others.
  func end()
}

extension Population {
  var objectBytes: Int? { nil }

  func awaitAdditions(_ each: Int, until deadline: UInt64) throws -> UInt64 { bl_now_ns() }

  /// Throws unless each member has had `each` additions.
  func check(_ each: Int, count: Int) throws {
    var (members, wrong) = (0, 0)
    readAll { state in
      members += 1
      if state.count != UInt64(each) || !state.isWhole { wrong += 1 }
    }
    guard members == count, wrong == 0 else {
      throw SubjectFailure("\(wrong) of \(members) members have not had \(each) actions each")
    }
  }
}

/// What is done with very many subjects.
enum ScaleShape: Sendable {
  /// They are made, get one action each, and end. Measures what each costs while it is idle.
  case idle
  /// They get ten actions each, from eight threads, which is a figure of its own: the first action of each is among them. Then ten
  /// more, or a multiple of ten that takes longer than a time slice; and again as long as a repetition is too short.
  case busy
  /// The same, with more actions for each while there are few: otherwise the threads' start would be measured.
  case growing
  /// They are found by key, and made at the first action; then one thread sends to each, and then eight.
  case keyed

  private static let rounds = 10
  /// How often a repetition that is too short sends its actions at most: few members would need very many threads.
  private static let mostStints = 100
  /// The least nanoseconds of a stint: several time slices.
  private static let leastStint = 10_000_000.0
  /// The least number of actions of `growing`.
  private static let leastActions = 100_000
  /// Nanoseconds after which an action must have been lost.
  private static let patience: UInt64 = 120_000_000_000

  var threads: Int {
    switch self {
    case .idle: 1
    case .busy, .growing, .keyed: 8
    }
  }

  var parts: [CaseOutline.Part] {
    switch self {
    case .idle:
      [
        CaseOutline.Part("made", .bytes), CaseOutline.Part("used", .bytes),
        CaseOutline.Part("object", .bytes), CaseOutline.Part("resident", .bytes),
        CaseOutline.Part("making", .nanoseconds),
        CaseOutline.Part("ending", .nanoseconds),
      ]
    case .busy, .growing:
      [
        CaseOutline.Part("actions", .millionPerSecond), CaseOutline.Part("first", .millionPerSecond),
        CaseOutline.Part("peak", .bytes),
      ]
    case .keyed:
      [
        CaseOutline.Part("actions", .millionPerSecond), CaseOutline.Part("alone", .nanoseconds),
        CaseOutline.Part("making", .nanoseconds), CaseOutline.Part("used", .bytes),
      ]
    }
  }

  func run<Members: Population>(
    _: Members.Type, _ request: RepetitionRequest, _ instruments: Instruments
  ) throws -> Measurement {
    let population = try Members(count: request.reactors, cores: instruments.cpus.cpus.count)
    defer { population.end() }
    return switch self {
    case .idle: try Self.rest(population, request.reactors)
    case .busy: try Self.work(population, request, rounds: Self.rounds, threads: threads)
    case .growing:
      try Self.work(
        population, request, rounds: max(Self.rounds, Self.leastActions / request.reactors), threads: threads)
    case .keyed: try Self.workByKey(population, request, threads: threads)
    }
  }

  private static func rest(_ population: some Population, _ count: Int) throws -> Measurement {
    let before = MemoryUse.now(purges: true)
    let start = bl_now_ns()
    try population.make()
    let made = bl_now_ns()
    let afterMaking = MemoryUse.now()
    population.visit(VisitingOrder(count: count, threads: 1, thread: 0, rounds: 1))
    _ = try population.awaitAdditions(1, until: bl_now_ns() + patience)
    let afterUse = MemoryUse.now(purges: true)
    try population.check(1, count: count)
    let object = population.objectBytes
    let ending = bl_now_ns()
    population.end()
    let ended = bl_now_ns()

    var measurement = Measurement(nanoseconds: Double(made - start), actions: count)
    measurement.parts["making"] = measurement.nanosecondsPerAction
    measurement.parts["ending"] = Double(ended - ending) / Double(count)
    if let before, let afterMaking, let afterUse {
      func each(_ bytes: Int) -> Double { Double(bytes) / Double(count) }
      measurement.parts["made"] = each(afterMaking.allocated - before.allocated)
      measurement.parts["used"] = each(afterUse.allocated - before.allocated)
      measurement.parts["object"] = object.map(Double.init)
      measurement.parts["resident"] = each(afterUse.resident - before.resident)
    }
    return measurement
  }

  /// Sends `rounds` actions to each member, and again until that has taken as long as a repetition is to take. Otherwise the
  /// moments in which not all threads run would be much of the time. Returns the nanoseconds of all of them, and the number of
  /// rounds after the last one.
  private static func stints(
    _ population: some Population, _ request: RepetitionRequest, after done: Int, rounds: Int, threads: Int
  ) throws -> (nanoseconds: Double, done: Int) {
    var (nanoseconds, next) = (0.0, done)
    for _ in 0..<mostStints {
      let end = next + rounds
      nanoseconds += try stint(population, request, rounds: next..<end, threads: threads)
      next = end
      if nanoseconds >= request.duration { break }
    }
    return (nanoseconds, next)
  }

  /// Sends an action to each member in each round, and returns the nanoseconds until all are reduced.
  private static func stint(
    _ population: some Population, _ request: RepetitionRequest, rounds: Range<Int>, threads: Int
  ) throws -> Double {
    let visits = Visits(threads)
    // Made before the clock starts.
    let orders = (0..<threads).map {
      VisitingOrder(count: request.reactors, threads: threads, thread: $0, rounds: rounds)
    }
    let producers = try ProducerThreads(threads, on: nil) { thread in
      population.visit(orders[thread])
      visits.end { try population.awaitAdditions(rounds.upperBound, until: bl_now_ns() + patience) }
    }
    let start = bl_now_ns()
    producers.release()
    producers.join()
    return Double(try visits.timeOfLast() - start)
  }

  private static func work(
    _ population: some Population, _ request: RepetitionRequest, rounds: Int, threads: Int
  ) throws -> Measurement {
    let count = request.reactors
    let before = MemoryUse.now(purges: true)
    let knowsPeak = MemoryUse.resetPeak()
    try population.make()
    // By itself: a fast subject repeats the others more often, so what its members do once would cost it a smaller share.
    let first = try stint(population, request, rounds: 0..<rounds, threads: threads)
    // Threads that have done their part before their time slice ends run one after the other, and never meet at a member.
    // How long a round takes is seen in a second stint: in the first one, members also begin.
    let second = try stint(population, request, rounds: rounds..<2 * rounds, threads: threads)
    let longer = rounds * max(1, Int((leastStint / second).rounded(.up)))
    let (nanoseconds, done) = try stints(
      population, request, after: 2 * rounds, rounds: longer, threads: threads)
    let peak = knowsPeak ? MemoryUse.peak : nil
    try population.check(done, count: count)

    var measurement = Measurement(nanoseconds: nanoseconds, actions: (done - 2 * rounds) * count)
    measurement.parts["actions"] = measurement.millionPerSecond
    measurement.parts["first"] = Double(rounds * count) / first * 1e3
    if let before, let peak { measurement.parts["peak"] = Double(peak - before.resident) / Double(count) }
    return measurement
  }

  private static func workByKey(
    _ population: some Population, _ request: RepetitionRequest, threads: Int
  ) throws -> Measurement {
    // One round makes them, three are one thread's, and the others all threads'. Each part ends when its actions are reduced.
    let count = request.reactors
    let making = VisitingOrder(count: count, threads: 1, thread: 0, rounds: 1)
    let byOne = VisitingOrder(count: count, threads: 1, thread: 0, rounds: 1..<4)
    let before = MemoryUse.now(purges: true)
    let start = bl_now_ns()
    try population.make()
    population.visit(making)
    let made = try population.awaitAdditions(1, until: start + patience)
    let afterMaking = MemoryUse.now(purges: true)
    let alone = bl_now_ns()
    population.visit(byOne)
    let aloneEnd = try population.awaitAdditions(4, until: alone + patience)
    let (nanoseconds, done) = try stints(population, request, after: 4, rounds: rounds - 4, threads: threads)
    try population.check(done, count: count)

    var measurement = Measurement(nanoseconds: nanoseconds, actions: (done - 4) * count)
    measurement.parts["actions"] = measurement.millionPerSecond
    measurement.parts["alone"] = Double(aloneEnd - alone) / Double(3 * count)
    measurement.parts["making"] = Double(made - start) / Double(count)
    if let before, let afterMaking {
      measurement.parts["used"] = Double(afterMaking.allocated - before.allocated) / Double(count)
    }
    return measurement
  }
}

/// Finds out when the last of several visitors has returned, and all that they sent is reduced. No visitor ends before: the end of
/// a thread takes as long as hundreds of actions, and needs a core.
private final class Visits: Sendable {
  private let threads: Int
  private let left: Atomic<Int>
  private let isOver = DispatchSemaphore(value: 0)
  private let time = Mutex<Result<UInt64, any Error>?>(nil)

  init(_ threads: Int) {
    self.threads = threads
    left = Atomic(threads)
  }

  /// Called on the thread of each visitor. The last one calls `wait`, which returns the time since when all is reduced.
  func end(_ wait: () throws -> UInt64) {
    guard left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else {
      isOver.wait()
      return
    }
    let result = Result { try wait() }
    time.withLock { $0 = result }
    for _ in 1..<threads { isOver.signal() }
  }

  /// After the visitors have ended.
  func timeOfLast() throws -> UInt64 {
    guard let result = time.withLock({ $0 }) else { preconditionFailure("a visitor has not ended") }
    return try result.get()
  }
}
