import Testing

@testable import BenchmarkSupport

@Suite struct MarkedTextTests {
  @Test func `only what is between the markers is replaced`() throws {
    let text = try MarkedText(
      "# Title\n\n<!-- a: begin -->\nold\nold\n<!-- a: end -->\nwritten\n<!-- b c: begin -->\n<!-- b c: end -->\n",
      path: "")
    #expect(text.names == ["a", "b c"])
    #expect(
      try text.filled { "new \($0)" } == """
        # Title

        <!-- a: begin -->
        new a
        <!-- a: end -->
        written
        <!-- b c: begin -->
        new b c
        <!-- b c: end -->

        """)
  }

  @Test func `a text without markers stays as it is`() throws {
    let text = "a\n<!-- a comment -->\n\nb"
    #expect(try MarkedText(text, path: "").filled { _ in "" } == text)
  }

  @Test(arguments: [
    "<!-- a: begin -->", "<!-- a: end -->", "<!-- a: begin -->\n<!-- b: end -->",
    "<!-- a: begin -->\n<!-- a: begin -->\n<!-- a: end -->",
  ])
  func `a marker without its partner is refused`(_ text: String) {
    #expect(throws: UsageError.self) { try MarkedText(text, path: "README.md") }
  }
}

@Suite struct ResultsPagesTests {
  private let run = RunDescription(
    machine: MachineDescription(
      cpu: "A CPU", cores: 2, kernel: "Linux 6", architecture: "x86_64", loadAverage: 0.5,
      roundTripNanoseconds: 100),
    compiler: "Swift 6.3.1", commit: "abc", reactors: 1000)

  private func result(
    _ name: String, _ variant: String, _ value: Double, _ unit: FigureUnit = .millionPerSecond,
    threads: Int = 1, placement: CorePlacement = .near
  ) -> CellResult {
    CellResult(
      caseName: name, variant: variant, producers: threads, unit: unit,
      figure: Figure(Array(repeating: value, count: 4))!,
      allocationsPerAction: nil, placement: placement, verified: true)
  }

  private let outlines = [
    CaseOutline(name: "ring.single", kind: .throughput),
    CaseOutline(name: "ring.batch16", kind: .throughput),
    CaseOutline(
      name: "readers", kind: .readers,
      parts: [.init("reads", .millionPerSecond, "reads"), .init("kept", .ratio, "kept")]),
    CaseOutline(name: "limit.spsc", kind: .limit),
  ]

  private func pages(_ results: [CellResult]) -> ResultsPages {
    ResultsPages(run, header: "A CPU, 2 cores", outlines, results)
  }

  @Test func `a part shows the tables of the cases that it names`() throws {
    let pages = pages([
      result("ring.single", "c", 100), result("ring.batch16", "c", 900), result("readers.reads", "c", 300),
      result("readers.kept", "c", 0.9, .ratio), result("limit.spsc", "limit", 150),
    ])
    let ring = try pages.content(of: "tables ring")
    #expect(ring.hasPrefix("```\nring.single · "))
    #expect(ring.contains("\n\nring.batch16 · "))
    #expect(!ring.contains("readers") && !ring.contains("limits"))
    #expect(ring.hasSuffix("\n```"))
    let reads = try pages.content(of: "tables ring.single readers.reads")
    #expect(reads.contains("readers.reads") && !reads.contains("readers.kept") && !reads.contains("batch16"))
    #expect(try pages.content(of: "limits").contains("limit.spsc"))
    #expect(try pages.content(of: "run") == "```\nA CPU, 2 cores\n```")
  }

  @Test func `no line ends with a space`() throws {
    let table = try pages([
      result("ring.single", "c", 100), result("ring.single", "long-name", 100),
    ]).content(of: "tables ring")
    #expect(!table.split(separator: "\n").contains { $0.hasSuffix(" ") })
  }

  @Test func `a part that was not measured says so`() throws {
    #expect(try pages([]).content(of: "tables ring") == "This run did not measure it.")
    #expect(try pages([]).content(of: "targets") == "This run did not measure it.")
  }

  @Test(arguments: ["", "tables", "table ring", "figures"])
  func `an unknown part is refused`(_ name: String) {
    #expect(throws: UsageError.self) { try pages([]).content(of: name) }
  }

  @Test func `cases without a place are found`() {
    func missing(_ names: String...) -> [String] { ResultsPages.casesWithoutTable(outlines, in: names) }
    #expect(missing("run", "tables ring readers") == [])
    #expect(missing("tables ring.single", "tables readers.kept") == ["ring.batch16"])
    #expect(missing("run", "limits") == ["ring.single", "ring.batch16", "readers"])
  }

  // MARK: The table of the README

  @Test func `the README has at most eight rows`() {
    #expect(PerformanceTable.rows.count <= 8)
  }

  @Test func `each row has the baselines beside the reactor`() {
    let table = PerformanceTable.markdown(
      run,
      [
        result("reactor.loop", "c", 129.4, threads: 8), result("reactor.loop", "swift", 1, threads: 8),
        result("reactor.loop", "pthread-mutex", 22.4, threads: 8),
        result("reactor.loop", "mutex", 0.651, threads: 8),
        result("sync.uncontended", "c", 11.8, .nanoseconds),
        result("sync.uncontended", "actor", 59.8, .nanoseconds),
        result("readers.kept", "c-each", 0.918, .ratio, threads: 4),
        result("readers.owner", "c-each", 196, threads: 4),
        // In turns of 1024 actions, which no lock has.
        result("readers.owner", "c", 1, threads: 4),
        result("readers.owner", "mutex", 2.87, threads: 4),
        result("readers.owner", "pthread-mutex", 9, threads: 4),
        result("readers.kept", "pthread-mutex", 0.13, .ratio, threads: 4),
        result("scale.idle.used", "caller", 512, .bytes), result("scale.idle.used", "actor", 127.6, .bytes),
      ])
    #expect(
      table == """
        A CPU, 2 cores (placement near, round trip 100 ns), Swift 6.3.1, commit abc; medians.

        | case | reactor | pthread mutex | `Mutex` | actor |
        |---|---|---|---|---|
        | one uncontended send and reduce (`.caller`) | 11.8 ns | – | – | 59.8 ns |
        | 8 threads send to a loop | 129 M/s | 22.4 M/s | 0.65 M/s | – |
        | the owner's speed meanwhile, and of that alone | 196 M/s, 92% | 9.00 M/s, 13% | 2.87 M/s | – |
        | memory of an idle one, object included | 512 B | – | – | 128 B |
        """)
  }

  @Test func `a figure that says little has its range, and a line that says so`() {
    var noisy = result("reactor.loop", "mutex", 0.39, threads: 8)
    noisy.figure = Figure([42, 0.15, 0.39, 0.39, 0.3])!
    var few = result("readers.kept", "c-each", 0.5, .ratio, threads: 4)
    few.figure = Figure([0.5, 0.25, 0.75])!
    let table = PerformanceTable.markdown(
      run,
      [
        result("reactor.loop", "c", 129.4, threads: 8), noisy,
        result("readers.owner", "c-each", 196, threads: 4), few,
      ])
    #expect(table.contains("| 129 M/s | – | ~0.39 (0.15–42.0) M/s | – |"))
    #expect(table.contains("| 196 M/s, ~50% (25%–75%) |"))
    #expect(table.contains("medians; `~`: repetitions that vary too much, or fewer than 4 (range)."))
  }

  @Test func `a row in another placement than most says so`() {
    let table = PerformanceTable.markdown(
      run,
      [
        result("reactor.loop", "c", 50, placement: .far),
        result("reactor.loop", "mutex", 40, placement: .far),
        result("sync.uncontended", "c", 11, .nanoseconds), result("publish.array", "c", 30, .nanoseconds),
        // Most of the run, but not of the table.
        result("ring.single", "c", 1, placement: .far),
        result("ring.single", "c", 1, threads: 2, placement: .far),
        result("ring.single", "c", 1, threads: 8, placement: .far),
      ])
    #expect(table.contains("(placement near, round trip 100 ns)"))
    #expect(table.contains("| 1 thread sends to a loop (placement far) | 50.0 M/s | – | 40.0 M/s | – |"))
    #expect(table.contains("| one uncontended send and reduce (`.caller`) | 11.0 ns |"))
    // The round trip of the run is that of near cores.
    let far = PerformanceTable.markdown(run, [result("reactor.loop", "c", 50, placement: .far)])
    #expect(far.contains("(placement far), Swift"))
    #expect(far.contains("| 1 thread sends to a loop | 50.0 M/s |"))
  }

  @Test func `a baseline in another placement of the cores is not shown`() {
    let table = PerformanceTable.markdown(
      run, [result("reactor.loop", "c", 156), result("reactor.loop", "mutex", 105, placement: .far)])
    #expect(table.contains("| 156 M/s | – | – | – |"))
  }
}
