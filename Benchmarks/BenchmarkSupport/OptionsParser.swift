/// Turns the command line into an `Invocation`. Touches nothing but its arguments.
package struct OptionsParser: Sendable {
  package static let producerBounds = 1...1024
  package static let repetitionBounds = 3...1000
  package static let reactorBounds = 8...100_000_000
  package static let longestSeconds = 3600.0

  private let knownCases: [String]
  private let cores: Int

  package init(knownCases: [String], cores: Int) {
    self.knownCases = knownCases
    self.cores = cores
  }

  package func parse(_ arguments: [String]) -> Result<Invocation, UsageError> {
    Result { () throws(UsageError) in try invocation(arguments) }
  }

  private func invocation(_ arguments: [String]) throws(UsageError) -> Invocation {
    if arguments.first == "race" { return .race(try race(arguments.dropFirst())) }
    if arguments.first == "compare" { return .compare(try comparison(arguments.dropFirst())) }
    // The other options refine what --quick sets, wherever in the line it is.
    var options = Options(quick: arguments.contains("--quick"), cores: cores)
    var asked: Invocation?
    var given: Set<String> = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts.first ?? "")
      let inline = parts.count == 2 ? String(parts[1]) : nil
      switch name {
      case "--help", "--list", "--serve", "--self-test", "--quick", "--curves", "--any-results":
        guard inline == nil else { throw UsageError("\(name) takes no value.") }
        if name == "--curves" { options.curves = true }
        // Not in the help: see Options.takesAnyResults.
        if name == "--any-results" { options.takesAnyResults = true }
        if name == "--list" { asked = asked ?? .list }
        if name == "--serve" {
          guard arguments.count == 1 else { throw UsageError("--serve takes no other options.") }
          asked = .serve
        }
        if name == "--self-test" {
          guard arguments.count == 1 else { throw UsageError("--self-test takes no other options.") }
          asked = .selfTest
        }
        if name == "--help" { asked = .help }
      case "--case", "--producers", "--seconds", "--repetitions", "--reactors", "--json", "--report",
        "--write-results", "--race", "--placement", "--patience":
        guard let value = inline ?? rest.popFirst(), !value.isEmpty else {
          throw UsageError("\(name) needs a value.")
        }
        try apply(name, value, to: &options)
        given.insert(name)
      default:
        throw UsageError("Unknown option '\(argument)'; --help lists all options.")
      }
    }
    if let asked { return asked }
    try check(options, given)
    return .run(options)
  }

  /// Refuses options that do not go together.
  ///
  /// - Parameter given: The names of those that were given a value.
  private func check(_ options: Options, _ given: Set<String>) throws(UsageError) {
    guard !options.curves || options.cases.isEmpty else {
      throw UsageError(
        "--curves adds to all cases; with --case, name the curves there, as in --case curve.payload.")
    }
    guard options.placement != nil || !given.contains("--patience") else {
      throw UsageError("--patience is for --placement, which is not given.")
    }
    guard options.writeResults != nil else {
      guard !options.takesAnyResults else { throw UsageError("--any-results is for --write-results.") }
      return
    }
    guard options.cases.isEmpty else {
      throw UsageError("--write-results writes the tables of all cases, so --case cannot be given.")
    }
    if options.takesAnyResults { return }
    guard !options.quick else {
      throw UsageError("--write-results takes no smoke run: the figures of --quick mean little.")
    }
    for name in ["--producers", "--reactors"] where given.contains(name) {
      throw UsageError("--write-results writes figures of the default cases, so \(name) cannot be given.")
    }
    let usual = Options(quick: false, cores: cores)
    guard options.repetitions >= usual.repetitions, options.seconds >= usual.seconds else {
      throw UsageError(
        "--write-results needs \(usual.repetitions) repetitions and \(usual.seconds) s for each figure, or more."
      )
    }
  }

  private func race(_ arguments: ArraySlice<String>) throws(UsageError) -> RaceOptions {
    var files: [String] = []
    var report: String?
    var rest = arguments
    while let argument = rest.popFirst() {
      if argument == "--report" || argument.hasPrefix("--report=") {
        let path = argument == "--report" ? rest.popFirst() ?? "" : String(argument.dropFirst(9))
        guard !path.isEmpty else { throw UsageError("--report needs a value.") }
        report = path
      } else if argument.hasPrefix("-") || argument.isEmpty {
        throw UsageError("Unknown option '\(argument)' of race; --help lists all options.")
      } else {
        files.append(argument)
      }
    }
    guard files.count == 1 else { throw UsageError("race takes one file: a report of Scripts/bench-peers.") }
    return RaceOptions(file: files[0], report: report)
  }

  private func comparison(_ arguments: ArraySlice<String>) throws(UsageError) -> ComparisonOptions {
    var files: [String] = []
    var limit = ComparisonOptions.defaultLimit
    var rest = arguments
    while let argument = rest.popFirst() {
      if argument == "--limit" || argument.hasPrefix("--limit=") {
        let text = argument == "--limit" ? rest.popFirst() ?? "" : String(argument.dropFirst(8))
        guard let value = Double(text), value > 0, value < 1 else {
          throw UsageError("--limit takes a number between 0 and 1, not '\(text)'.")
        }
        limit = value
      } else if argument.hasPrefix("-") || argument.isEmpty {
        throw UsageError("Unknown option '\(argument)' of compare; --help lists all options.")
      } else {
        files.append(argument)
      }
    }
    guard files.count == 2 else {
      throw UsageError("compare takes two files: the old report and the new one.")
    }
    return ComparisonOptions(old: files[0], new: files[1], limit: limit)
  }

  private func apply(_ name: String, _ value: String, to options: inout Options) throws(UsageError) {
    switch name {
    case "--case": options.cases += try caseNames(value)
    case "--producers": options.producers = try producerCounts(value)
    case "--seconds": options.seconds = try seconds(value, "--seconds")
    case "--patience": options.patience = try seconds(value, "--patience")
    case "--placement":
      guard let placement = CorePlacement(rawValue: value), placement != .unknown else {
        throw UsageError("--placement takes sibling, near or far, not '\(value)'.")
      }
      options.placement = placement
    case "--race": options.race = value
    case "--repetitions":
      options.repetitions = try number(
        value, within: Self.repetitionBounds, "--repetitions takes a number")
    case "--reactors":
      options.reactors = try number(value, within: Self.reactorBounds, "--reactors takes a number")
    case "--report": options.report = value
    case "--write-results": options.writeResults = value
    default: options.json = value
    }
  }

  private func caseNames(_ value: String) throws(UsageError) -> [String] {
    var names: [String] = []
    for name in commaSeparated(value) {
      guard knownCases.contains(where: { CaseName.selects(name, $0) }) else {
        throw UsageError(
          "Unknown case '\(name)'; there are \(knownCases.joined(separator: ", ")), and prefixes of them.")
      }
      names.append(name)
    }
    return names
  }

  private func producerCounts(_ value: String) throws(UsageError) -> [Int] {
    var counts: Set<Int> = []
    for text in commaSeparated(value) {
      counts.insert(try number(text, within: Self.producerBounds, "--producers takes numbers"))
    }
    return counts.sorted()
  }

  private func number(
    _ text: String, within bounds: ClosedRange<Int>, _ rule: String
  ) throws(UsageError) -> Int {
    guard let number = Int(text), bounds.contains(number) else {
      throw UsageError("\(rule) from \(bounds.lowerBound) to \(bounds.upperBound), not '\(text)'.")
    }
    return number
  }

  private func seconds(_ value: String, _ option: String) throws(UsageError) -> Double {
    guard let seconds = Double(value), seconds > 0, seconds <= Self.longestSeconds else {
      throw UsageError(
        "\(option) takes a number above 0 and up to \(Int(Self.longestSeconds)), not '\(value)'.")
    }
    return seconds
  }

  private func commaSeparated(_ value: String) -> [String] {
    value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }
}
