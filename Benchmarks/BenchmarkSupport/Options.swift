/// What the command line asks for.
package enum Invocation: Equatable, Sendable {
  case run(Options)
  case compare(ComparisonOptions)
  case race(RaceOptions)
  case list
  case help
  /// Measure what a parent process asks for: see `Twin`. Not in the help, since no user needs it.
  case serve
  /// Find out whether wrong subjects are noticed: see `SelfTest`. For `Scripts/bench-smoke`.
  case selfTest
}

/// Two reports, and what counts as slower.
package struct ComparisonOptions: Equatable, Sendable {
  package static let defaultLimit = 0.95

  package var old: String
  package var new: String
  /// A speed below this part of the old one is a failure. A difference that is surely smaller is none.
  package var limit = defaultLimit

  package init(old: String, new: String, limit: Double = defaultLimit) {
    (self.old, self.new, self.limit) = (old, new, limit)
  }
}

/// A report of the race against other queues, and where to show it.
package struct RaceOptions: Equatable, Sendable {
  package var file: String
  /// The file for the page that a browser shows.
  package var report: String?

  package init(file: String, report: String? = nil) {
    self.file = file
    self.report = report
  }
}

/// The settings of a run.
package struct Options: Equatable, Sendable {
  /// Names or prefixes of cases; empty means all.
  package var cases: [String] = []
  package var producers: [Int]
  /// Measured time per cell (one case, variant and number of producers), over all its repetitions.
  package var seconds: Double
  package var repetitions: Int
  /// How many reactors the cases `scale` have.
  package var reactors: Int
  /// The file for the JSON report.
  package var json: String?
  /// The file for the page that a browser shows.
  package var report: String?
  /// A report of the race against other queues, which the tables and the page also show.
  package var race: String?
  /// The placement of the cores that is waited for.
  package var placement: CorePlacement?
  /// For how many seconds in all it is waited for.
  package var patience = 60.0
  /// Whether the cases that are points of curves are measured, too.
  package var curves = false
  /// The folder of the repository whose README.md and Benchmarks/RESULTS.md are to be written.
  package var writeResults: String?
  /// Whether also a smoke run, or a debug build, may write there. For `Scripts/bench-smoke`, which writes copies of the documents.
  package var takesAnyResults = false
  package var quick: Bool

  /// Some minutes in all, or a smoke run that still runs and verifies every variant.
  package init(quick: Bool, cores: Int) {
    self.quick = quick
    producers = quick ? [1, 2] : Set([1, 2, 4, 8, cores]).sorted()
    seconds = quick ? 0.015 : 0.25
    repetitions = quick ? 3 : 5
    reactors = quick ? 1000 : 10_000
  }
}

/// Why a command line cannot be carried out: a sentence for the user.
package struct UsageError: Error, Equatable, Sendable {
  package let message: String

  package init(_ message: String) {
    self.message = message
  }
}

/// What `--help` prints.
package enum HelpText {
  package static let text = """
    Measures reactors and rings beside their baselines and the machine's limits.

    USAGE: ./Scripts/bench [options]
           ./Scripts/bench compare OLD.json NEW.json [--limit L]
           ./Scripts/bench race RACE.json [--report FILE]

    Scripts/bench builds this program twice. The second one, .build/twin, is built on the pure-Swift core,
    and gives the rows 'swift' of reactors. Without it, as by 'swift run', these rows are left out.

      --case NAME        only this case; a prefix such as 'ring' or 'latency.busy' selects all that begin
                         with it; may be repeated, or names separated by commas. The limit that a case is
                         compared with is measured along with it.
      --producers LIST   numbers of producer or reader threads, such as 1,2,4 (default 1,2,4,8 and the
                         core count)
      --seconds S        measured time per case, variant and number of producers (default 0.25)
      --repetitions N    in how many parts that time is measured (default 5); more give compare narrower
                         intervals
      --reactors N       how many reactors the cases 'scale' have (default 10000)
      --curves           also the cases 'curve': producers, capacities, payloads, subscribers, reactors and
                         readers, each from few to very many; takes as long as all others together; not with
                         --case, which selects curves by their names
      --placement P      wait until the cores are placed so: sibling, near or far
      --patience S       for how many seconds in all (default 60); then measure in the placement there is;
                         only with --placement
      --json FILE        also write the results to FILE
      --report FILE      also write FILE, a page of HTML with charts that needs nothing else
      --race FILE        also show a report of Scripts/bench-peers, in the tables and on the page
      --write-results    write the tables to Benchmarks/RESULTS.md and to the README, unless a result was
                         wrong; not in a debug build or one of changed or new files, and not with --case,
                         --quick, --producers, --reactors, fewer repetitions or less time than by default
                         (this program itself: --write-results FOLDER, with the folder of the repository)
      --quick            smoke run: everything runs and is verified, but the figures mean little
      --list             print the cases and their variants
      --help             print this

    compare says for each figure of two JSON reports whether the new one is faster, slower, or not different,
    with a confidence interval of the ratio of speeds. It does not judge speeds that were measured in
    different placements of the cores. Nor does it compare a debug build with a release build, or different
    numbers of reactors. Speeds that vary too much are not judged unless they are surely slower
    than the limit.
    Of many figures some are slower by chance. So those that are fail together, if chance alone has so many
    of them in less than one of 100 comparisons, and one by itself only with five repetitions on each side
    that are further apart than both of them vary. The p99.9 and the maximum of a latency never fail, nor do
    baselines, limits and the pure-Swift core, unless they are wrong.

      --limit L          the least ratio of speeds that is accepted (default 0.95)

    race says of a report of Scripts/bench-peers which of the bars our queues reach, with an interval for each
    ratio. It does not judge figures that vary too much, or that were measured in another placement than the
    one that was asked for.

    EXIT STATUS: 0 all results verified; compare: not more is slower than the limit than by chance · 1 a result
    was wrong or could not be written; compare: something is slower, wrong in the new report, or missing from it
    though it was asked for, or allocates more, or no longer has its allocations counted; or the new run failed or ended early; or nothing
    could be judged · 2 the command line was wrong · 130, 143 ended by Ctrl-C or SIGTERM: what was measured is
    written as incomplete, and a second signal ends the program at once
    """
}
