import ControlledScheduler
import Glibc
import ReactorRuntime
import Testing

/// Runs one body under many schedules: systematically with few delays, at random, and by priorities; of the latter two,
/// every other one has late stores. The schedules are the same each time, unless the environment says otherwise:
///
/// - `RR_CONTROLLED_FACTOR`: how many times as many schedules as usual.
/// - `RR_CONTROLLED_SEED`: the first seed.
/// - `RR_CONTROLLED_REPLAY`: the one execution to run, as a failure printed it; each of its points is printed.
struct Exploration {
  private(set) var count = 0
  private(set) var mostPoints = 0
  private(set) var mostDecisions = 0
  private(set) var mostThreads = 0
  /// How many schedules there are with each number of delays or fewer, as far as all of them were run.
  private(set) var complete: [Int] = []
  private(set) var failed: Execution?
  private(set) var duration = Duration.zero
  private let name: String

  private static func setting(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  static let factor = setting("RR_CONTROLLED_FACTOR").flatMap { Int($0) } ?? 1
  private static let firstSeed = setting("RR_CONTROLLED_SEED").flatMap { UInt64($0) } ?? 1
  private static let replay = setting("RR_CONTROLLED_REPLAY").flatMap { Replay($0) }

  /// A scenario and its schedule.
  private struct Replay {
    let name: String
    let schedule: Schedule

    init?(_ text: String) {
      let parts = text.split(separator: "; ", omittingEmptySubsequences: false)
      guard parts.count == 2, let schedule = Schedule(String(parts[1])) else {
        fatalError("RR_CONTROLLED_REPLAY is not a scenario and its schedule: \(text)")
      }
      name = String(parts[0])
      self.schedule = schedule
    }
  }

  /// Whether this scenario is to be run.
  static func includes(_ name: String) -> Bool { replay == nil || replay?.name == name }

  /// - Parameters:
  ///   - name: Of the scenario.
  ///   - schedules: How many schedules at most, about: a quarter each systematically, at random, and by priorities of
  ///     depth 2 and 3.
  ///   - delays: The most delays of a systematic search.
  init(_ name: String, schedules: Int, delays: Int, _ body: @escaping @Sendable () -> Void) {
    self.name = name
    // Scenarios do what the warnings are about.
    Hooks.warningHandler = { _ in }
    let clock = ContinuousClock()
    duration = clock.measure {
      // The first execution in a process initializes what later ones find; so it is not one that may be repeated.
      run(Schedule(.systematic(delays: 0, path: "")), body)
      if failed != nil { return }
      if let replay = Self.replay {
        run(replay.schedule, traces: true, body)
        return
      }
      let share = max(1, schedules / 4)
      search(share, delays: delays, body)
      let decisions = sample(share, body, .random)
      if failed != nil { return }
      for depth in 2...3 { sample(share, body, .priorities(depth: depth, decisions: decisions)) }
      if failed == nil { checkRepeats(body) }
    }
  }

  @discardableResult
  private mutating func run(
    _ schedule: Schedule, traces: Bool = false, _ body: @escaping @Sendable () -> Void
  ) -> Execution {
    let execution = schedule.run(named: name, traces: traces, body)
    count += 1
    mostPoints = max(mostPoints, execution.points)
    mostDecisions = max(mostDecisions, execution.decisions)
    mostThreads = max(mostThreads, execution.threads)
    if execution.failure != nil { failed = execution }
    return execution
  }

  /// All schedules without a delay, then all with one, and so on, as long as there are any left to run. If there are too many
  /// with one delay, the delays are spread over the execution instead: depth first, the search would only come to its end.
  private mutating func search(_ share: Int, delays: Int, _ body: @escaping @Sendable () -> Void) {
    let decisions = run(Schedule(.systematic(delays: 0, path: "")), body).decisions
    if failed != nil { return }
    complete.append(1)
    if decisions >= share { return spread(share - 1, over: decisions, body) }
    var left = share - 1
    for most in 1...delays {
      ctl_search_begin()
      var searched = 0
      repeat {
        if left == 0 || failed != nil { return }
        run(Schedule(.systematic(delays: most)), body)
        left -= 1
        searched += 1
      } while failed != nil || ctl_search_advance()
      complete.append(searched)
    }
  }

  /// One delay each, at decisions that are equally far from each other.
  private mutating func spread(_ share: Int, over decisions: Int, _ body: @escaping @Sendable () -> Void) {
    for index in 0..<share where failed == nil {
      run(Schedule(.systematic(delays: 1, path: "(\(index * decisions / share))1")), body)
    }
  }

  /// Returns how many decisions half of the executions had, or fewer. (Not the most: one in which a thread spins may have many
  /// times as many.)
  @discardableResult
  private mutating func sample(
    _ share: Int, _ body: @escaping @Sendable () -> Void, _ strategy: Schedule.Strategy
  ) -> Int {
    var decisions: [Int] = []
    for index in 0..<share where failed == nil {
      let seed = Self.firstSeed &+ UInt64(index)
      decisions.append(run(Schedule(strategy, seed: seed, lateStores: index % 2 == 1), body).decisions)
    }
    return decisions.isEmpty ? 0 : decisions.sorted()[decisions.count / 2]
  }

  /// The same schedule twice must be the same execution. Otherwise the body depends on something that the scheduler does
  /// not control, and a failure could not be repeated.
  private mutating func checkRepeats(_ body: @escaping @Sendable () -> Void) {
    let schedule = Schedule(.random, seed: Self.firstSeed, lateStores: true)
    let (first, second) = (schedule.run(named: name, body), schedule.run(named: name, body))
    if first.hash == second.hash, first.points == second.points {
      if first.failure != nil { failed = first }
      return
    }
    failed = Execution(
      schedule: schedule, points: second.points, decisions: second.decisions, switches: second.switches,
      threads: second.threads, hash: second.hash,
      failure: "the same schedule had \(first.points) points, and then \(second.points)")
  }

  /// Adds the figures of another scenario; not how many schedules were complete.
  mutating func add(_ other: Exploration) {
    count += other.count
    mostPoints = max(mostPoints, other.mostPoints)
    mostDecisions = max(mostDecisions, other.mostDecisions)
    mostThreads = max(mostThreads, other.mostThreads)
    duration += other.duration
    complete = []
  }

  /// Prints a row of the table of `Scripts/controlled`.
  func printRow(named name: String) {
    let perSecond = Int(Double(count) / max(duration / .seconds(1), 1e-6))
    let all = complete.map { "\($0)" }.joined(separator: ", ")
    print(
      "controlled: | \(name) | \(count) | \(perSecond) | \(mostThreads) | \(mostPoints) | \(mostDecisions) | \(all) |"
    )
  }

  /// Records an issue if a schedule has failed.
  func expectNoFailure(sourceLocation: SourceLocation) {
    guard let failed, let failure = failed.failure else { return }
    Issue.record(
      """
      \(name): schedule \(count) failed: \(failure)
      to repeat it: RR_CONTROLLED_REPLAY='\(name); \(failed.schedule)' Scripts/controlled\(Self.factor > 1 ? " long" : "")
      """, sourceLocation: sourceLocation)
  }
}

/// Explores a body that must not fail, and prints what was run.
///
/// - Parameters:
///   - name: Of the scenario; unique.
///   - schedules: About how many schedules are run in the short mode.
func explore(
  _ name: String, schedules: Int = 400, delays: Int = 2, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: @escaping @Sendable () -> Void
) {
  if !Exploration.includes(name) { return }
  let exploration = Exploration(
    name, schedules: schedules * Exploration.factor, delays: delays, body)
  exploration.printRow(named: name)
  exploration.expectNoFailure(sourceLocation: sourceLocation)
}

/// Explores each of these programs under about so many schedules, and prints one row about all of them.
func explore(
  _ programs: [Program], named name: String, schedules: Int, sourceLocation: SourceLocation = #_sourceLocation
) {
  var all: Exploration?
  for program in programs where Exploration.includes("\(program)") {
    let exploration = Exploration("\(program)", schedules: schedules, delays: 2) { program.run() }
    exploration.expectNoFailure(sourceLocation: sourceLocation)
    if all?.add(exploration) == nil { all = exploration }
  }
  all?.printRow(named: name)
}
