import BenchmarkSupport
import Foundation

/// The benchmark: reads the command line, measures and reports. The exit status tells whether all results were right.
@main
enum Bench {
  private enum Status {
    static let verified: Int32 = 0
    static let wrong: Int32 = 1
    static let usage: Int32 = 2
  }

  static func main() {
    exit(run(Array(CommandLine.arguments.dropFirst())))
  }

  private static func run(_ arguments: [String]) -> Int32 {
    let parser = OptionsParser(
      knownCases: Catalogue.cases.flatMap(\.outline.resultNames),
      cores: ProcessInfo.processInfo.activeProcessorCount)
    switch parser.parse(arguments) {
    case .success(.help):
      print(HelpText.text)
      return Status.verified
    case .success(.list):
      let cases = Twin.builtBesideThis()?.adding(to: Catalogue.cases) ?? Catalogue.cases
      for one in cases { print("\(one.name): \(one.variants.map(\.name).joined(separator: ", "))") }
      return Status.verified
    case .success(.serve):
      guard isatty(STDIN_FILENO) == 0 else {
        return refuse(UsageError("--serve is for the benchmark itself, which sends requests over a pipe."))
      }
      return Twin.serve(Catalogue.cases)
    case .success(.selfTest):
      let problems = SelfTest.problems()
      for problem in problems { StandardError.write("bench: FAILED \(problem)\n") }
      return problems.isEmpty ? Status.verified : Status.wrong
    case .success(.compare(let options)):
      do throws(UsageError) {
        return try compare(options)
      } catch {
        return refuse(error)
      }
    case .success(.race(let options)):
      do throws(UsageError) {
        return try race(options)
      } catch {
        return refuse(error)
      }
    case .success(.run(let options)):
      do throws(UsageError) {
        // Opened and read before anything is measured: no minutes are spent if a path is wrong.
        let outputs = Outputs(
          json: try options.json.map { path throws(UsageError) in try OutputFile(path, "--json") },
          page: try options.report.map { path throws(UsageError) in try OutputFile(path, "--report") },
          documents: try options.writeResults.map { folder throws(UsageError) in
            // Curves are not for the documents.
            try ResultsFolder(folder, Catalogue.cases.map(\.outline).filter { $0.curve == nil })
          }, race: try options.race.map { path throws(UsageError) in try raceReport(path) })
        return try measure(options, outputs)
      } catch {
        return refuse(error)
      }
    case .failure(let error):
      return refuse(error)
    }
  }

  private static func refuse(_ error: UsageError) -> Int32 {
    StandardError.write("bench: \(error.message)\n")
    return Status.usage
  }

  private static func compare(_ options: ComparisonOptions) throws(UsageError) -> Int32 {
    let comparison = Comparison(
      try report(options.old), try report(options.new), limit: options.limit)
    print(ComparisonReport(comparison, limit: options.limit).rendered(), terminator: "")
    return comparison.isFailure ? Status.wrong : Status.verified
  }

  private static func race(_ options: RaceOptions) throws(UsageError) -> Int32 {
    let race = try raceReport(options.file)
    let page = try options.report.map { path throws(UsageError) in try OutputFile(path, "--report") }
    print(race.barsTable?.rendered() ?? "The report has nothing to compare.\n", terminator: "")
    do {
      try page?.write(Data(ReportPage(race).html().utf8))
      return Status.verified
    } catch {
      StandardError.write("bench: the page could not be written: \(error)\n")
      return Status.wrong
    }
  }

  private static func raceReport(_ path: String) throws(UsageError) -> RaceReport {
    try read(path, for: "race") { data throws(UsageError) in try RaceReport(data) }
  }

  private static func report(_ path: String) throws(UsageError) -> JSONReport {
    try read(path, for: "compare") { data throws(UsageError) in try JSONReport(data) }
  }

  private static func read<Report>(
    _ path: String, for use: String, _ parse: (Data) throws(UsageError) -> Report
  ) throws(UsageError) -> Report {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw UsageError("\(use) cannot read '\(path)'.")
    }
    do throws(UsageError) {
      return try parse(data)
    } catch {
      throw UsageError("\(use) cannot use '\(path)': \(error.message)")
    }
  }

  /// What is written besides the tables, and the race that is shown with them.
  private struct Outputs {
    let json: OutputFile?
    let page: OutputFile?
    let documents: ResultsFolder?
    let race: RaceReport?
  }

  private static func measure(_ options: Options, _ outputs: Outputs) throws(UsageError) -> Int32 {
    #if DEBUG
      StandardError.write("bench: this is a debug build; its figures mean nothing. Use -c release.\n")
      guard options.writeResults == nil || options.takesAnyResults else {
        throw UsageError("--write-results takes no results of a debug build.")
      }
    #endif
    let thread: MeasuringThread
    do {
      thread = try MeasuringThread()
    } catch {
      throw UsageError("nothing can be measured here: \(error)")
    }
    let instruments = Instruments.ofThisMachine()
    let twin = Twin.builtBesideThis()
    defer { twin?.end() }
    let cases = twin?.adding(to: Catalogue.cases) ?? Catalogue.cases
    let plan = Plan(cases, options, cores: instruments.cpus.cpus.count)
    var description = MachineReader.describe(options)
    guard options.writeResults == nil || options.takesAnyResults || !description.commit.hasSuffix("-dirty")
    else {
      throw UsageError("--write-results takes results of a commit only, and some files are changed or new.")
    }
    let runner = Runner(
      options, instruments, on: thread,
      Progress(plan.groups, options))
    outputs.json?.clear()
    outputs.page?.clear()
    Interruption.watch()
    let end: (any Error)?
    do {
      try runner.run(plan)
      end = nil
    } catch {
      end = error
    }
    description.machine.roundTripNanoseconds = Figure(runner.roundTrips)?.median
    let interruption = end as? Interruption.Asked
    var isRight = runner.failures.isEmpty
    let results = plan.results
    let hasLostPatience = options.placement != nil && runner.hasLostPatience
    let header = Header.text(description, options, plan, results, hasLostPatience: hasLostPatience)
    print(header)
    print(TextReport(plan.outlines, results).rendered(), terminator: "")
    if let bars = outputs.race?.barsTable { print("\n" + bars.rendered(), terminator: "") }
    if hasLostPatience {
      StandardError.write("bench: the cores were not placed as asked for long enough.\n")
    }
    for failure in runner.failures { StandardError.write("bench: FAILED \(failure)\n") }
    if let interruption {
      StandardError.write("bench: \(interruption): what came later was not measured.\n")
    } else if end != nil {
      StandardError.write("bench: stopped there, since its threads cannot be ended.\n")
    }
    do {
      let report = JSONReport(
        description, results, failures: runner.failures, isIncomplete: end != nil)
      try outputs.json?.write(report.data())
      let page = ReportPage(
        description, plan.outlines, results, groups: plan.groups.map(\.record), failures: runner.failures,
        isIncomplete: end != nil, race: outputs.race)
      try outputs.page?.write(Data(page.html().utf8))
      if isRight, end == nil {
        try outputs.documents?.write(ResultsPages(description, header: header, plan.outlines, results))
      } else if outputs.documents != nil {
        let reason = isRight ? "not all were measured" : "one of them was wrong"
        StandardError.write("bench: the results are not written, since \(reason).\n")
      }
    } catch {
      StandardError.write("bench: the results could not be written: \(error)\n")
      isRight = false
    }
    return interruption?.status ?? (isRight ? Status.verified : Status.wrong)
  }
}
