import Testing

@testable import BenchmarkSupport

@Suite struct OptionsParserTests {
  private let parser = OptionsParser(
    knownCases: ["ring.single", "ring.batch16", "latency.busy.p50"], cores: 6)

  private func options(_ arguments: String...) throws -> Options {
    guard case .run(let options) = try parser.parse(arguments).get() else {
      throw UsageError("not a run")
    }
    return options
  }

  private func refusal(_ arguments: String...) -> String? {
    guard case .failure(let error) = parser.parse(arguments) else { return nil }
    return error.message
  }

  @Test func `the default numbers of producers include the number of cores`() throws {
    let options = try options()
    #expect(options.producers == [1, 2, 4, 6, 8])
    #expect(options.cases.isEmpty)
    #expect(options.seconds == 0.25)
    #expect(options.repetitions == 5)
    #expect(options.reactors == 10_000)
    #expect(options.json == nil)
    #expect(!options.quick)
  }

  @Test func `quick is refined by the options before and after it`() throws {
    #expect(try options("--quick").producers == [1, 2])
    #expect(try options("--quick").repetitions == 3)
    for options in [
      try options("--quick", "--producers", "4", "--seconds", "1"),
      try options("--producers", "4", "--seconds", "1", "--quick"),
    ] {
      #expect(options.quick)
      #expect(options.producers == [4])
      #expect(options.seconds == 1)
    }
  }

  @Test func `several cases and prefixes of cases can be given`() throws {
    let cases = try options("--case", "ring,latency.busy", "--case=ring.single").cases
    #expect(cases == ["ring", "latency.busy", "ring.single"])
  }

  @Test func `an unknown case is refused with a list of the known ones`() {
    let message = refusal("--case", "rung")
    #expect(message?.contains("'rung'") == true)
    #expect(message?.contains("ring.single, ring.batch16") == true)
    #expect(refusal("--case", "ring,,latency") != nil)
    #expect(refusal("--case", "single") != nil)
  }

  @Test func `curves and a placement are measured only if they are asked for`() throws {
    #expect(!(try options().curves))
    #expect(try options("--quick", "--curves").curves)
    #expect(refusal("--curves=1") != nil)
    #expect(try options().placement == nil)
    #expect(try options("--placement", "near", "--patience=5").placement == .near)
    #expect(try options("--placement", "near", "--patience=5").patience == 5)
    #expect(refusal("--placement", "unknown")?.contains("sibling, near or far") == true)
    #expect(refusal("--patience", "-1")?.hasPrefix("--patience takes") == true)
  }

  @Test func `a race takes one file, and a page for it`() throws {
    #expect(try parser.parse(["race", "a.json"]).get() == .race(RaceOptions(file: "a.json")))
    #expect(
      try parser.parse(["race", "--report", "b.html", "a.json"]).get()
        == .race(RaceOptions(file: "a.json", report: "b.html")))
    #expect(try options("--race", "a.json").race == "a.json")
    #expect(refusal("race") != nil)
    #expect(refusal("race", "a.json", "b.json") != nil)
    #expect(refusal("race", "a.json", "--report") != nil)
    #expect(refusal("race", "a.json", "--limit", "0.5")?.contains("'--limit'") == true)
  }

  @Test func `producers are sorted and unique`() throws {
    #expect(try options("--producers", "8,1,8,2").producers == [1, 2, 8])
  }

  @Test(arguments: ["0", "-1", "1.5", "two", "1,,2", "1025", "1, 2", "99999999999999999999"])
  func `impossible producers are refused`(_ value: String) {
    #expect(refusal("--producers", value)?.contains("1 to 1024") == true)
  }

  @Test func `the number of reactors can be a million`() throws {
    #expect(try options("--reactors", "1000000").reactors == 1_000_000)
    #expect(try options("--quick").reactors == 1000)
  }

  /// Fewer than the threads that visit them would leave threads without any.
  @Test(arguments: ["7", "0", "-1", "many", "1e6", "100000001"])
  func `impossible reactors are refused`(_ value: String) {
    #expect(refusal("--reactors", value)?.contains("8 to 100000000, not '\(value)'") == true)
  }

  @Test(arguments: ["0", "-0.5", "nan", "inf", "soon", "3601"])
  func `impossible seconds are refused`(_ value: String) {
    #expect(refusal("--seconds", value)?.contains("'\(value)'") == true)
  }

  @Test func `repetitions can be chosen`() throws {
    #expect(try options("--repetitions", "12").repetitions == 12)
    #expect(refusal("--repetitions", "2")?.contains("3 to 1000, not '2'") == true)
  }

  @Test(arguments: [
    "--case", "--producers", "--seconds", "--repetitions", "--reactors", "--json", "--report",
    "--write-results",
  ])
  func `missing values are refused`(_ name: String) {
    #expect(refusal(name) == "\(name) needs a value.")
    #expect(refusal("\(name)=") == "\(name) needs a value.")
  }

  @Test func `unknown options are refused`() {
    #expect(refusal("--fast")?.contains("'--fast'") == true)
    #expect(refusal("ring")?.contains("'ring'") == true)
    #expect(refusal("") != nil)
    #expect(refusal("--quick=yes") == "--quick takes no value.")
  }

  @Test func `help and list are found`() throws {
    #expect(try parser.parse(["--help"]).get() == .help)
    #expect(try parser.parse(["--quick", "--list"]).get() == .list)
    #expect(try parser.parse(["--list", "--help"]).get() == .help)
    #expect(try parser.parse(["--help", "--list"]).get() == .help)
    #expect(refusal("--help", "--seconds", "0") != nil)
  }

  @Test func `two reports are compared`() throws {
    #expect(try parser.parse(["compare", "a", "b"]).get() == .compare(.init(old: "a", new: "b")))
    for limit in [["--limit", "0.9"], ["--limit=0.9"]] {
      #expect(
        try parser.parse(["compare", "a"] + limit + ["b"]).get()
          == .compare(.init(old: "a", new: "b", limit: 0.9)))
    }
    #expect(refusal("compare", "a")?.contains("two files") == true)
    #expect(refusal("compare", "a", "b", "c")?.contains("two files") == true)
    #expect(refusal("compare", "a", "b", "--quick")?.contains("'--quick'") == true)
  }

  @Test(arguments: ["", "0", "1", "-0.5", "nan", "much"])
  func `impossible limits are refused`(_ value: String) {
    #expect(refusal("compare", "a", "b", "--limit", value)?.contains("'\(value)'") == true)
    #expect(refusal("compare", "a", "b", "--limit=\(value)")?.contains("'\(value)'") == true)
  }

  @Test func `results are written of all cases only`() throws {
    #expect(try options("--write-results", ".").writeResults == ".")
    #expect(refusal("--write-results", ".", "--case", "ring")?.contains("--case") == true)
    #expect(refusal("--any-results", "--write-results", ".", "--case", "ring")?.contains("--case") == true)
  }

  @Test(arguments: [
    ["--quick"], ["--producers", "1,2"], ["--reactors", "1000"], ["--repetitions", "4"],
    ["--seconds", "0.2"],
  ])
  func `results are written of whole runs only`(_ others: [String]) throws {
    let arguments = ["--write-results", "."] + others
    guard case .failure(let error) = parser.parse(arguments) else {
      Issue.record("\(arguments) was accepted")
      return
    }
    #expect(error.message.hasPrefix("--write-results "))
    // The smoke test, which writes copies of the documents.
    guard case .run(let options) = try parser.parse(arguments + ["--any-results"]).get() else {
      Issue.record("not a run")
      return
    }
    #expect(options.takesAnyResults)
  }

  @Test func `longer runs may write results`() throws {
    let options = try options("--write-results", ".", "--repetitions", "10", "--seconds", "1", "--curves")
    #expect(options.writeResults == ".")
    #expect(!options.takesAnyResults)
    #expect(refusal("--any-results") == "--any-results is for --write-results.")
    #expect(refusal("--any-results=yes") == "--any-results takes no value.")
  }

  @Test func `options without effect are refused`() throws {
    #expect(refusal("--patience", "5")?.hasPrefix("--patience is for --placement") == true)
    #expect(refusal("--curves", "--case", "ring")?.hasPrefix("--curves adds") == true)
    #expect(refusal("--case", "ring", "--curves")?.hasPrefix("--curves adds") == true)
    #expect(try options("--patience", "5", "--placement", "far").patience == 5)
  }

  @Test func `serving takes no other option`() throws {
    #expect(try parser.parse(["--serve"]).get() == .serve)
    #expect(refusal("--serve", "--quick") == "--serve takes no other options.")
    #expect(refusal("--list", "--serve") == "--serve takes no other options.")
    #expect(refusal("--serve=yes") == "--serve takes no value.")
    #expect(try parser.parse(["--self-test"]).get() == .selfTest)
    #expect(refusal("--self-test", "--quick") == "--self-test takes no other options.")
  }

  @Test func `paths may contain equal signs`() throws {
    #expect(try options("--json=a=b.json").json == "a=b.json")
    #expect(try options("--report", "a=b.html").report == "a=b.html")
  }
}
