import BenchmarkSupport
import Foundation

/// The benchmark: reads the command line, measures, reports, and says by its exit status whether all that
/// it measured was right.
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
      for one in casesWithTwin() { print("\(one.name): \(one.variants.map(\.name).joined(separator: ", "))") }
      return Status.verified
    case .success(.serve):
      return Twin.serve(Catalogue.cases)
    case .success(.run(let options)):
      do throws(UsageError) {
        return measure(options, into: try options.json.map(OutputFile.init))
      } catch {
        return refuse(error)
      }
    case .failure(let error):
      return refuse(error)
    }
  }

  /// All cases, with the rows of the other core where an executable is built on it.
  private static func casesWithTwin() -> [Case] {
    do {
      return try Twin.builtBesideThis().map { try Twin(path: $0).adding(to: Catalogue.cases) }
        ?? Catalogue.cases
    } catch {
      StandardError.write(
        "bench: the executable that is built on the other core cannot be started: \(error)\n")
      return Catalogue.cases
    }
  }

  private static func refuse(_ error: UsageError) -> Int32 {
    StandardError.write("bench: \(error.message)\n")
    return Status.usage
  }

  private static func measure(_ options: Options, into file: OutputFile?) -> Int32 {
    #if DEBUG
      StandardError.write("bench: this is a debug build; its figures mean nothing. Use -c release.\n")
    #endif
    let instruments = Instruments.ofThisMachine()
    let plan = Plan(casesWithTwin(), options, cores: instruments.cpus.cpus.count)
    var description = MachineReader.describe(options)
    let runner = Runner(options, instruments, Progress())
    let stall: (any Error)?
    do {
      try runner.run(plan)
      stall = nil
    } catch {
      stall = error
    }
    description.machine.roundTripNanoseconds = Figure(runner.roundTrips)?.median
    let isWritten = report(description, plan, into: file)
    for failure in runner.failures { StandardError.write("bench: FAILED \(failure)\n") }
    if stall != nil { StandardError.write("bench: stopped there, since its threads cannot be ended.\n") }
    return runner.failures.isEmpty && isWritten ? Status.verified : Status.wrong
  }

  /// Returns false if the file could not be written.
  private static func report(_ description: RunDescription, _ plan: Plan, into file: OutputFile?) -> Bool {
    let results = plan.results
    print(Header.text(description, plan, results))
    print(TextReport(plan.outlines, results).rendered(), terminator: "")
    guard let file else { return true }
    do {
      try file.write(JSONReport(description, results).data())
      return true
    } catch {
      StandardError.write("bench: the JSON report could not be written: \(error)\n")
      return false
    }
  }
}
