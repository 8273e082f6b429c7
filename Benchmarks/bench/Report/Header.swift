import BenchmarkSupport
import Foundation

/// The lines above the tables: the machine, the code, and how the cores were placed during the run.
enum Header {
  private static func scale(_ run: RunDescription, _ plan: Plan) -> String {
    guard plan.outlines.contains(where: { $0.kind == .scale }) else { return "" }
    return "the cases 'scale' have \(run.reactors) members\n"
  }

  private static func lengths(_ run: RunDescription, _ options: Options) -> String {
    let each = FigureFormat.number(options.seconds / Double(options.repetitions))
    return
      "\(options.repetitions) repetitions of about \(each) s for each figure, and four times as long with readers and with a consumer that sleeps"
      + (options.quick ? " (a smoke run: the figures mean little)" : "")
      + (run.configuration.map { ", \($0) build" } ?? "")
  }

  /// How many figures are of which placement: each table has that of its columns.
  private static func placements(_ results: [CellResult]) -> String {
    let counts = CorePlacement.allCases.map { placement in
      (placement, count: results.count { $0.placement == placement })
    }
    let named = counts.filter { $0.count > 0 }.sorted { $0.count > $1.count }
      .map { "\($0.0.rawValue) \($0.count)" }
    return "figures by placement: " + (named.isEmpty ? "none" : named.joined(separator: ", "))
  }

  /// - Parameter hasLostPatience: Whether the placement that was asked for did not come long enough.
  static func text(
    _ run: RunDescription, _ options: Options, _ plan: Plan, _ results: [CellResult], hasLostPatience: Bool
  ) -> String {
    let machine = run.machine
    let roundTrip =
      machine.roundTripNanoseconds.map { "median round trip \(FigureFormat.number($0)) ns" }
      ?? "no round trip measured"
    let measured = plan.groups.flatMap(\.cells).reduce(0) { $0 + $1.samples.count }
    let discarded = plan.groups.reduce(0) { $0 + $1.discarded }
    return """
      \(machine.cpu), \(machine.cores) cores, \(machine.kernel) \(machine.architecture)
      \(run.compiler) · commit \(run.commit) · load before the run \(FigureFormat.number(machine.loadAverage))
      \(lengths(run, options))
      \(placements(results)) (\(roundTrip)); \(discarded) of \(measured) repetitions were discarded \
      because the cores had moved
      each figure is median (min–max), and below it the ratio of the medians to the first variant, and to the limit;
      allocs are per action; '?' marks a figure from another placement of the cores than its column's, '~' one whose
      repetitions vary too much or are fewer than four, or a ratio of such a one, '≥' a lower bound
      \(hasLostPatience ? "the cores were not placed as asked for long enough\n" : "")\(scale(run, plan))
      """
  }
}

/// Reads from the system what a reader of the figures must know.
enum MachineReader {
  static func describe(_ options: Options) -> RunDescription {
    let environment = ProcessInfo.processInfo.environment
    return RunDescription(
      machine: machine(), compiler: environment["REACTOR_BENCH_COMPILER"] ?? compiler,
      commit: environment["REACTOR_BENCH_COMMIT"] ?? commit() ?? "unknown", reactors: options.reactors,
      configuration: configuration, seconds: options.seconds, measuredAt: Date().formatted(.iso8601),
      asked: AskedSelection(options))
  }

  private static var configuration: String {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }

  private static func machine() -> MachineDescription {
    var system = utsname()
    uname(&system)
    return MachineDescription(
      cpu: cpuModel() ?? "unknown CPU", cores: ProcessInfo.processInfo.activeProcessorCount,
      kernel: "\(text(system.sysname)) \(text(system.release))", architecture: text(system.machine),
      loadAverage: loadAverage())
  }

  private static func loadAverage() -> Double {
    var average = 0.0
    return getloadavg(&average, 1) == 1 ? average : 0
  }

  /// The name of the processor. Hypervisors hide which one of a line it is, and ratios differ between these: then with its numbers.
  private static func cpuModel() -> String? {
    let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n")
    let fields = (lines ?? []).map { line in
      line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    }
    func value(of key: String) -> String? { fields.first { $0.first == key }?.last }
    guard let name = value(of: "model name") else { return nil }
    guard !name.contains(where: \.isNumber), let family = value(of: "cpu family"),
      let model = value(of: "model")
    else { return name }
    return "\(name) (family \(family), model \(model))"
  }

  /// A fixed-size C array of characters, up to its zero.
  private static func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// What the source can find out about the compiler. Scripts/bench passes the exact version in the environment.
  private static var compiler: String {
    #if compiler(>=6.4)
      "Swift 6.4 or later"
    #elseif compiler(>=6.3)
      "Swift 6.3"
    #else
      "Swift 6.2"
    #endif
  }

  private static func commit() -> String? {
    guard let hash = git(["rev-parse", "--short", "HEAD"]), !hash.isEmpty else { return nil }
    // As in Scripts/commit-name: files that git does not track are built, too, and what a run writes is not.
    let written = ["Benchmarks/Results", "Benchmarks/RESULTS.md", "README.md"].map { ":(top,exclude)\($0)" }
    let changes = git(["status", "--porcelain", "--untracked-files=normal", "--", ":/"] + written) ?? ""
    return changes.isEmpty ? hash : hash + "-dirty"
  }

  private static func git(_ arguments: [String]) -> String? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
