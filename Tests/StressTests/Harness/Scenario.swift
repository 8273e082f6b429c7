import ReactorCore
import TestSupport

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// One run of a stress test with given parameters. It has a name, its own seed and a time limit.
///
/// The seed follows from the name and from `STRESS_SEED`, so a scenario makes the same choices whether it runs alone
/// or among others. How the threads interleave is up to the system.
struct Scenario: CustomStringConvertible, Sendable {
  let name: String
  let seed: UInt64

  /// The seed of the whole run: the environment variable `STRESS_SEED`, otherwise random.
  static let baseSeed: UInt64 = {
    guard let text = StressMode.environment("STRESS_SEED") else { return .random(in: 0...UInt64.max) }
    guard let seed = UInt64(text) else { fatalError("STRESS_SEED is \(text); it must be a whole number") }
    return seed
  }()

  init(_ name: String) {
    self.name = name
    // FNV-1a, because Swift's own hashes differ from run to run.
    let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    seed = SplitMix64.mixed(Self.baseSeed ^ hash)
  }

  var description: String { "\(name) [STRESS_SEED=\(Self.baseSeed)]" }

  /// Returns the random generator of one of the scenario's threads.
  func generator(_ stream: Int) -> SplitMix64 {
    SplitMix64(seed: SplitMix64.mixed(seed &+ UInt64(truncatingIfNeeded: stream)))
  }

  /// Runs `body` under a watchdog, which stops the process and names the scenario if it takes longer than `limit`
  /// seconds in the short mode; 20 times as long in the long one.
  func run(withinSeconds limit: Int = 60, _ body: (Scenario) throws -> Void) rethrows {
    let watch = Watchdog.start(self, seconds: StressMode.seconds(limit))
    defer { Watchdog.stop(watch) }
    try body(self)
  }

  /// Prints the seed. Each test calls it at its start.
  static func announce(_ test: String) {
    writeToStandardError(
      "stress: \(test), \(CurrentCore.name) core, STRESS_SEED=\(baseSeed), \(StressMode.current)\n")
  }
}

extension SplitMix64 {
  /// The first number of the generator with this seed.
  static func mixed(_ seed: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: seed)
    return generator.next()
  }
}

/// How much the stress tests do: `STRESS_MODE=short` (the default: about a minute in all), `long` (many minutes), or
/// `brief` for very slow builds.
enum StressMode: String {
  case brief
  case short
  case long

  static let current: StressMode = {
    guard let name = environment("STRESS_MODE") else { return .short }
    guard let mode = StressMode(rawValue: name) else {
      fatalError("STRESS_MODE is \(name); it must be brief, short or long")
    }
    return mode
  }()

  /// Returns `count` in the short mode, 20 times as many in the long one, and an eighth in the brief one, but at
  /// least one.
  static func rounds(_ count: Int) -> Int {
    switch current {
    case .brief: max(1, count / 8)
    case .short: count
    case .long: count * 20
    }
  }

  /// How much one thread does in one round: `count`, and an eighth of it in the brief mode. For scenarios whose
  /// number of rounds cannot be less than one.
  static func perRound(_ count: Int) -> Int { current == .brief ? max(1, count / 8) : count }

  /// Returns a scenario's time limit or duration: `count`, and 20 times as long in the long mode. The brief mode does
  /// not shorten it, since it is for slow builds.
  static func seconds(_ count: Int) -> Int { current == .long ? count * 20 : count }

  /// After how many seconds a scenario takes something for lost that should happen at once. Under a sanitizer, or on a loaded
  /// machine, a thread may stand still for more than ten. A scenario that uses this gets 120 seconds, so that it fails before the
  /// watchdog stops it.
  static let patience = 60

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Stops the process with a message when a scenario takes too long: a lost wake-up must fail the run, not hang it.
enum Watchdog {
  private struct Watch {
    let id: Int
    let scenario: Scenario
    let deadline: ContinuousClock.Instant
  }

  private struct Watches {
    var running: [Watch] = []
    var nextID = 0
    var hasThread = false
  }

  private static let watches = Guarded(Watches())

  static func start(_ scenario: Scenario, seconds: Int) -> Int {
    watches.with { watches in
      if !watches.hasThread {
        watches.hasThread = true
        _ = DedicatedThread(named: "watchdog") { watch() }
      }
      watches.nextID += 1
      let deadline = ContinuousClock.now + .seconds(seconds)
      watches.running.append(Watch(id: watches.nextID, scenario: scenario, deadline: deadline))
      return watches.nextID
    }
  }

  static func stop(_ id: Int) { watches.with { $0.running.removeAll { $0.id == id } } }

  private static func watch() {
    while true {
      usleep(200_000)
      let late = watches.with { watches in watches.running.first { $0.deadline < .now } }
      guard let late else { continue }
      writeToStandardError(
        """
        Problem: the stress scenario \(late.scenario) did not end in time.
        Likely cause: a lost wake-up, a lost action, or a deadlock.
        Remedy: run it again with this seed; the core file, or a debugger, shows which thread waits for which.

        """)
      abort()
    }
  }
}

/// Writes `text` with one call, so that the messages of two threads do not mix.
func writeToStandardError(_ text: String) {
  var text = text
  text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
