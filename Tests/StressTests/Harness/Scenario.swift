import ReactorCore
import TestSupport

/// One run of a stress test with given parameters: it has a name, a seed of its own, and a time limit.
///
/// The seed follows from the name and from `STRESS_SEED`, so a scenario makes the same choices whether it
/// runs alone or among others. (The threads' interleaving is the system's.)
struct Scenario: CustomStringConvertible, Sendable {
  let name: String
  let seed: UInt64

  /// Of the whole run; set by the environment variable `STRESS_SEED`, otherwise random.
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

  /// The generator of one of the scenario's threads.
  func generator(_ stream: Int) -> SplitMix64 {
    SplitMix64(seed: SplitMix64.mixed(seed &+ UInt64(truncatingIfNeeded: stream)))
  }

  /// Runs `body` under a watchdog that ends the process, naming the scenario, if it takes too long: so many
  /// seconds in the short mode, more in the long one.
  func run(withinSeconds limit: Int = 60, _ body: (Scenario) throws -> Void) rethrows {
    let watch = Watchdog.start(self, seconds: StressMode.seconds(limit))
    defer { Watchdog.stop(watch) }
    try body(self)
  }

  /// Prints the seed. At the start of each test.
  static func announce(_ test: String) {
    writeToStandardError(
      "stress: \(test), \(CurrentCore.name) core, STRESS_SEED=\(baseSeed), \(StressMode.current)\n")
  }
}

extension SplitMix64 {
  /// The first number that the generator of `seed` makes.
  static func mixed(_ seed: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: seed)
    return generator.next()
  }
}
