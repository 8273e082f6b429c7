/// What the command line asked for.
package enum Invocation: Equatable, Sendable {
  case run(Options)
  case list
  case help
  /// Measure what a parent process asks for: see `Twin`.
  case serve
}

/// The settings of a run.
package struct Options: Equatable, Sendable {
  /// Names or prefixes of cases; empty means all.
  package var cases: [String] = []
  package var producers: [Int]
  /// Measured time per cell (one case, variant and number of producers), over all its repetitions.
  package var seconds: Double
  package var repetitions: Int
  /// How many reactors the cases of many have.
  package var reactors: Int
  package var json: String?
  package var quick: Bool

  /// About a minute in all, or a smoke run of seconds that still runs and verifies every variant.
  package init(quick: Bool, cores: Int) {
    self.quick = quick
    producers = quick ? [1, 2] : Set([1, 2, 4, 8, cores]).sorted()
    seconds = quick ? 0.015 : 0.25
    repetitions = quick ? 3 : 5
    reactors = quick ? 1000 : 10_000
  }
}

/// A command line that cannot be carried out, as a sentence for its author.
package struct UsageError: Error, Equatable, Sendable {
  package let message: String

  package init(_ message: String) {
    self.message = message
  }
}
