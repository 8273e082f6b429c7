import Testing

@testable import BenchmarkSupport

@Suite struct TargetsTests {
  func result(
    _ name: String, _ variant: String, _ value: Double, _ unit: FigureUnit, producers: Int = 1,
    placement: CorePlacement = .near, limit: [Double]? = nil
  ) -> CellResult {
    CellResult(
      caseName: name, variant: variant, producers: producers, unit: unit, figure: steady(value),
      allocationsPerAction: nil, placement: placement, verified: true,
      shareOfLimit: limit.map { $0[0] / value },
      limit: limit.map(rounds))
  }

  /// Five repetitions that are the same.
  func steady(_ value: Double) -> Figure { rounds([Double](repeating: value, count: 5)) }

  /// One repetition in each round.
  func rounds(_ values: [Double]) -> Figure { Figure(values, rounds: Array(1...values.count))! }

  /// Without the spaces of a column of reasons that is empty in a line.
  func lines(_ results: [CellResult]) -> [String] {
    let lines = Targets.table(results)?.rendered(width: 1000).split(separator: "\n") ?? []
    return lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
  }

  /// The results of all states of which ``Targets`` has promises.
  func ofAllStates(_ results: (_ state: String) throws -> [CellResult]) rethrows -> [CellResult] {
    try
      (["10", "1000", "10000", "100000", "1000000"].map { "state.size.\($0)" } + [
        "state.array", "state.inline",
      ])
      .flatMap(results)
  }

  @Test func `bounds include their value`() {
    let least = Target(text: "", bound: .atLeast(10), unit: "", figure: { _ in nil })
    #expect(least.isMet(by: 10))
    #expect(!least.isMet(by: 9.99))
    let most = Target(text: "", bound: .atMost(60), unit: "", figure: { _ in nil })
    #expect(most.isMet(by: 60))
    #expect(!most.isMet(by: 60.1))
  }

  @Test func `a figure is judged only if its interval is on one side`() throws {
    func verdict(_ values: [Double]) throws -> Target.Verdict {
      var kept = result("readers.kept", "c", 1, .ratio)
      kept.figure = try #require(Figure(values))
      let target = try #require(Targets.measured([kept]).first)
      return target.target.verdict(on: target.figure)
    }
    // The bound is 0.8.
    #expect(try verdict([0.5, 0.6, 0.85, 0.9, 1]) == .undecided)
    #expect(try verdict([0.3, 0.4, 0.5, 0.6, 0.7]) == .notMet)
    #expect(try verdict([0.9, 1, 1.5, 2, 3]) == .met)
    // However little they vary.
    #expect(try verdict([0.78, 0.79, 0.81, 0.82, 0.83]) == .undecided)
    // Of ten repetitions, a wild one does not count: 2 to 9 contain the median in 97.9 % of all cases.
    #expect(try verdict([0.1] + [Double](repeating: 0.9, count: 9)) == .met)
    #expect(try verdict([0.1, 0.2] + [Double](repeating: 0.9, count: 8)) == .undecided)
  }

  @Test func `three repetitions are too few for a promise`() throws {
    var kept = result("readers.kept", "c", 1, .ratio)
    kept.figure = try #require(Figure([0.9, 0.9, 0.9]))
    #expect(
      try #require(lines([kept]).first { $0.contains("while 1 read") }).hasSuffix("too few repetitions"))
    var reads = [300.0, 25].map { result("readers.reads", "c", $0, .millionPerSecond, producers: 4) }
    reads[1].variant = "pthread-mutex-turn"
    for index in [0, 1] { reads[index].figure = try #require(Figure([300, 301, 302])) }
    let line = try #require(lines(reads).first { $0.contains("reads of 4 ") })
    #expect(line.hasSuffix("too few repetitions"))
  }

  /// What is subtracted, or what is divided by, varies as well.
  @Test func `the noise of a limit counts`() throws {
    func line(_ name: String, _ value: Double, _ limit: [Double], _ text: String) throws -> String {
      try #require(lines([result(name, "c", value, .nanoseconds, limit: limit)]).first { $0.contains(text) })
    }
    let (busy, parked) = ("latency.busy.p50", "latency.parked.p50")
    #expect(try line(busy, 100, [50, 50, 50, 50, 50], "busy").hasSuffix(" met"))
    #expect(try line(busy, 100, [50, 45, 30, 55, 60], "busy").hasSuffix("undecided"))
    #expect(try line(parked, 22_000, [20_000, 20_000, 20_000, 20_000, 20_000], "parked").hasSuffix(" met"))
    #expect(
      try line(parked, 22_000, [20_000, 16_000, 17_000, 20_000, 20_000], "parked").hasSuffix("undecided"))
  }

  @Test func `the noise of a plain state counts beside an observed one`() throws {
    var plain = result("publish.observed", "plain-long-turns", 30, .nanoseconds)
    let observed = result("publish.observed", "observed-long-turns", 125, .nanoseconds)
    func line() throws -> String {
      try #require(lines([plain, observed]).first { $0.contains("observed") })
    }
    #expect(try line().hasSuffix(" met"))
    plain.figure = try #require(Figure([10, 30, 30, 30, 31]))
    #expect(try line().hasSuffix("undecided"))
  }

  /// The least of several figures is below the bound if any of them may be.
  @Test func `the least of several states is as uncertain as each of them`() throws {
    func state(_ name: String, _ reads: [Double]) throws -> [CellResult] {
      var both = ["replayed", "mutex"].map { result("\(name).1-reads", $0, 2, .millionPerSecond) }
      both[0].figure = try #require(Figure(reads))
      return both
    }
    func line(_ wild: [Double]?) throws -> String {
      let results = try ofAllStates { name in
        try state(name, name == "state.array" ? wild ?? [21, 21, 21, 21, 21] : [21, 21, 21, 21, 21])
      }
      return try #require(lines(results).first { $0.contains("reads of 1 with .replayed") })
    }
    #expect(try line(nil).hasSuffix(" met"))
    #expect(try line([10, 18, 22, 26, 50]).hasSuffix("undecided"))
  }

  @Test func `a ratio that varies much is judged by its interval`() throws {
    func line(_ mutex: [Double]) throws -> String {
      var reads = [300.0, 25].map { result("readers.reads", "c", $0, .millionPerSecond, producers: 4) }
      reads[0].figure = try #require(Figure([290, 295, 300, 305, 310]))
      reads[1].variant = "pthread-mutex-turn"
      reads[1].figure = try #require(Figure(mutex))
      return try #require(lines(reads).first { $0.contains("reads of 4 ") })
    }
    #expect(try line([1, 2, 3, 4, 5]).hasSuffix(" met"))
    #expect(try line([10, 20, 30, 40, 50]).hasSuffix("undecided"))
    // Readers that never ran in one of the repetitions.
    #expect(try line([0, 2, 3, 4, 5]).hasSuffix(" met"))
  }

  @Test func `without figures there is no table`() {
    #expect(Targets.table([]) == nil)
    #expect(Targets.table([result("ring.single", "c", 1, .millionPerSecond)]) == nil)
  }

  @Test(
    arguments: [("reads", "beside the owner"), ("floating", "on all cores")],
    [("turns of 1024", "c", "pthread-mutex-turn"), ("turns of one", "c-each", "pthread-mutex")])
  func `reads are compared with four readers, and with a mutex that publishes as often`(
    _ part: (name: String, place: String), _ turns: (text: String, variant: String, other: String)
  ) throws {
    let reads = [
      result("readers.\(part.name)", turns.variant, 300, .millionPerSecond, producers: 4),
      result("readers.\(part.name)", turns.other, 25, .millionPerSecond, producers: 4),
      result("readers.\(part.name)", turns.variant, 1, .millionPerSecond, producers: 1),
      result("readers.\(part.name)", turns.other, 1, .millionPerSecond, producers: 1),
    ]
    let line = try #require(lines(reads).first { $0.contains("\(part.place), \(turns.text)") })
    #expect(line.contains("12.0 ×"))
    #expect(line.contains("at least 10.0 ×"))
    #expect(line.hasSuffix(" met"))
  }

  @Test func `there is a row for each number of readers beside an owner`() {
    let kept = [
      result("readers.kept", "c", 0.95, .ratio, producers: 1),
      result("readers.kept", "c", 0.7, .ratio, producers: 8),
      result("readers.kept", "mutex", 0.1, .ratio, producers: 2),
    ]
    let lines = lines(kept)
    #expect(lines.contains { $0.contains("while 1 read") && $0.hasSuffix(" met") })
    #expect(lines.contains { $0.contains("while 8 read") && $0.hasSuffix("NOT MET") })
    #expect(!lines.contains { $0.contains("while 2 read") })
  }

  /// 130 ns against a limit of 52 ns: the share is 0.4, and what is above it 78 ns.
  @Test func `a busy loop is compared with half of the round trip`() throws {
    let busy = [
      result("latency.busy.p50", "c", 130, .nanoseconds, limit: [Double](repeating: 52, count: 5))
    ]
    let line = try #require(lines(busy).first { $0.contains("busy") })
    #expect(line.contains("78.0 ns"))
    #expect(line.hasSuffix("NOT MET"))
  }

  @Test func `a parked loop may sleep once for each action`() throws {
    for (sleeps, verdict) in [(1.09, " met"), (1.11, "NOT MET")] {
      let line = try #require(
        lines([result("latency.parked.sleeps", "c", sleeps, .perAction)]).first { $0.contains("sleeps") })
      #expect(line.hasSuffix(verdict))
    }
  }

  @Test func `a parked loop is compared with a bare wake`() throws {
    let parked = [
      result("latency.parked.p50", "c", 22_000, .nanoseconds, limit: [Double](repeating: 19_800, count: 5))
    ]
    let line = try #require(lines(parked).first { $0.contains("parked") })
    #expect(line.contains("1.11 ×"))
    #expect(line.hasSuffix(" met"))
  }

  /// A ratio of two variants of one case, just on each side of its bound.
  struct Bar: Sendable, CustomTestStringConvertible {
    let text: String
    let name: String
    let variant: String
    let other: String
    let bound: Double
    var isMost = true
    var producers = 1

    var testDescription: String { text }
  }

  private static let sizes: [Bar] =
    [("size.10", "10"), ("size.1000", "1,000"), ("size.10000", "10,000"), ("size.100000", "100,000")]
    .map { (name: "state.\($0)", text: "a dictionary of \($1)") }.flatMap(states)
    + states(name: "state.size.1000000", text: "a dictionary of 1,000,000")
    + states(name: "state.array", text: "an array of 100,000")
    + states(name: "state.inline", text: "64 KiB inline")

  private static func states(name: String, text: String) -> [Bar] {
    [
      Bar(
        text: "a change of \(text), against a mutex", name: "\(name).alone", variant: "c", other: "mutex",
        bound: 1.5),
      Bar(
        text: "a change on a loop of \(text), against a mutex", name: "\(name).alone", variant: "c-loop",
        other: "mutex", bound: 1.5),
      Bar(
        text: "a change with .replayed of \(text), against a mutex", name: "\(name).alone",
        variant: "replayed",
        other: "mutex", bound: 3),
    ]
  }

  private static let many: [Bar] = [("scale.busy", "many"), ("curve.reactors.1000000", "a million")].flatMap {
    (name: String, count: String) -> [Bar] in
    [
      ("in a group, against actors", "group", "actor", 1.5),
      ("in a group, against .caller", "group", "caller", 1),
      ("on .caller, against pthread mutexes", "caller", "pthread-mutex", 0.5),
    ].map { (text: String, variant: String, other: String, bound: Double) -> Bar in
      Bar(
        text: "actions of \(count) reactors \(text)", name: "\(name).actions", variant: variant, other: other,
        bound: bound, isMost: false)
    }
  }

  private static let others: [Bar] =
    [
      Bar(
        text: "an ask of an idle reactor, against the call of an actor", name: "sync.ask", variant: "c",
        other: "actor", bound: 1.5),
      Bar(
        text: "asks of 8 tasks at once, against calls of an actor", name: "ask.contended", variant: "c",
        other: "actor", bound: 3, isMost: false, producers: 8),
      Bar(
        text: "an action with a string, an array and an object, against an integer", name: "sync.realistic",
        variant: "c", other: "c-item", bound: 2),
    ]
    + [1, 2, 4, 8].map { readers in
      Bar(
        text: "reads of \(readers) while the owner rests, against liburcu", name: "readers.resting",
        variant: "c", other: "urcu", bound: 1, isMost: false, producers: readers)
    }

  @Test(arguments: sizes + many + others)
  func `a missed ratio is shown as missed, and a kept one as met`(_ bar: Bar) throws {
    for (factor, isMet) in [(0.99, bar.isMost), (1.01, !bar.isMost)] {
      let line = try #require(
        lines([
          result(bar.name, bar.other, 100, .nanoseconds, producers: bar.producers),
          result(bar.name, bar.variant, 100 * bar.bound * factor, .nanoseconds, producers: bar.producers),
        ]).first { $0.contains(bar.text + " ") })
      #expect(line.hasSuffix(isMet ? " met" : "NOT MET"))
      #expect(line.contains(bar.isMost ? "at most" : "at least"))
    }
    try expectNotJudged(
      "\(bar.other) was not measured",
      [result(bar.name, bar.variant, 1, .nanoseconds, producers: bar.producers)], bar.text + " ")
  }

  @Test func `an idle reactor may have 192 bytes, on each placement and after an action`() {
    let bytes = ["caller", "group"].flatMap { variant in
      [
        result("scale.idle.made", variant, 240, .bytes),
        result("scale.idle.used", variant, variant == "group" ? 241 : 240, .bytes),
        result("scale.idle.object", variant, 48, .bytes),
      ]
    }
    let lines = lines(bytes)
    for (place, time, verdict) in [
      ("on .caller", "beyond the object itself", " met"), ("on .caller", "after its first action", " met"),
      ("in a group", "beyond the object itself", " met"), ("in a group", "after its first action", "NOT MET"),
    ] {
      let text = "an idle reactor \(place), \(time)"
      #expect(lines.contains { $0.contains(text) && $0.hasSuffix(verdict) }, "\(text)")
    }
  }

  @Test func `readers of replayed states are judged by the state where they do worst`() throws {
    func state(_ name: String, alone: Double, read: Double, reads: Double) -> [CellResult] {
      [
        result("\(name).alone", "replayed", alone, .nanoseconds),
        result("\(name).1-reader", "replayed", read, .nanoseconds),
        result("\(name).1-reads", "replayed", reads, .millionPerSecond),
        result("\(name).1-reads", "mutex", 2, .millionPerSecond),
      ]
    }
    func states(array: (alone: Double, read: Double, reads: Double)) -> [CellResult] {
      ofAllStates { name in
        name == "state.array"
          ? state(name, alone: array.alone, read: array.read, reads: array.reads)
          : state(name, alone: 100, read: 125, reads: 40)
      }
    }
    let good = states(array: (100, 125, 40))
    let bad = states(array: (100, 250, 19))
    func line(_ text: String, _ results: [CellResult]) throws -> String {
      try #require(lines(results).first { $0.contains(text) })
    }
    let (speed, reads) = ("speed with .replayed while 1 read", "reads of 1 with .replayed")
    #expect(try line(speed, good).contains("0.80"))
    #expect(try line(speed, good).hasSuffix(" met"))
    #expect(try line(reads, good).hasSuffix(" met"))
    #expect(try line(speed, bad).contains("0.40"))
    #expect(try line(speed, bad).hasSuffix("NOT MET"))
    #expect(try line(reads, bad).contains("9.50 ×"))
    #expect(try line(reads, bad).hasSuffix("NOT MET"))
  }

  @Test func `an observed property is half of what an action costs more`() throws {
    func line(_ observed: Double) throws -> String {
      try #require(
        lines([
          result("publish.observed", "plain-long-turns", 30, .nanoseconds),
          result("publish.observed", "observed-long-turns", observed, .nanoseconds),
        ]).first { $0.contains("observed") })
    }
    #expect(try line(130).contains("50.0 ns"))
    #expect(try line(130).hasSuffix(" met"))
    #expect(try line(132).hasSuffix("NOT MET"))
  }
}
