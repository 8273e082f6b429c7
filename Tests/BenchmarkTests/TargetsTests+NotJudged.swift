import Testing

@testable import BenchmarkSupport

/// Promises of which not everything was measured that they need, or not alike.
extension TargetsTests {
  private func reads(
    _ placement: CorePlacement = .near, beside other: CorePlacement = .near, mutex: Double = 25
  ) -> [CellResult] {
    [
      result("readers.reads", "c", 300, .millionPerSecond, producers: 4, placement: placement),
      result("readers.reads", "pthread-mutex-turn", mutex, .millionPerSecond, producers: 4, placement: other),
    ]
  }

  /// The row stays: what vanishes is taken for kept.
  func expectNotJudged(
    _ reason: String, _ results: [CellResult], _ text: String = "reads of 4 beside",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let line = try #require(
      lines(results).first { $0.contains(text) }, sourceLocation: sourceLocation)
    #expect(line.contains(" –  at "), "\(line)", sourceLocation: sourceLocation)
    #expect(line.contains("not judged  "), "\(line)", sourceLocation: sourceLocation)
    #expect(line.hasSuffix(reason), "\(line)", sourceLocation: sourceLocation)
  }

  @Test func `figures of other placements, or of none that is known, are not judged`() throws {
    try expectNotJudged("the cores were placed in different ways", reads(.near, beside: .far))
    try expectNotJudged("the placement of the cores is not known", reads(.unknown, beside: .unknown))
    try expectNotJudged("the placement of the cores is not known", reads(.near, beside: .unknown))
    #expect(
      try #require(lines(reads(.far, beside: .far)).first { $0.contains("reads of 4") }).hasSuffix(" met"))
  }

  @Test func `the table says in which placement a promise was measured`() throws {
    for placement in [CorePlacement.near, .far] {
      let line = try #require(
        lines(reads(placement, beside: placement)).first { $0.contains("reads of 4 beside") })
      #expect(line.contains("at least 10.0 ×  \(placement.rawValue)  "), "\(line)")
    }
    let line = try #require(
      lines(reads(.near, beside: .far)).first { $0.contains("reads of 4 beside") })
    #expect(line.contains("  near/far  "), "\(line)")
  }

  /// A loop that was too slow to send everything.
  @Test func `a lower bound breaks a promise, and cannot keep one`() throws {
    func line(_ figure: Double) throws -> String {
      var busy = result(
        "latency.busy.p50", "c", figure, .nanoseconds, limit: [Double](repeating: 52, count: 5))
      busy.isLowerBound = true
      return try #require(lines([busy]).first { $0.contains("p50 of a busy loop") })
    }
    #expect(try line(130).contains("NOT MET"))
    #expect(try line(60).contains("not judged  "))
    #expect(try line(60).hasSuffix("a lower bound only"))
  }

  @Test func `wrong figures are not judged`() throws {
    for index in [0, 1] {
      var wrong = reads()
      wrong[index].verified = false
      try expectNotJudged("\(wrong[index].variant) was wrong", wrong)
    }
    var kept = result("readers.kept", "c", 0.95, .ratio)
    kept.verified = false
    try expectNotJudged("c was wrong", [kept], "while 1 read")
  }

  @Test func `a figure without the other one is not judged`() throws {
    try expectNotJudged("pthread-mutex-turn was not measured", [reads()[0]])
    try expectNotJudged("c was not measured", [reads()[1]])
    try expectNotJudged(
      "its limit was not measured, or in another placement of the cores",
      [result("latency.busy.p50", "c", 130, .nanoseconds)], "p50 of a busy loop")
    try expectNotJudged("nothing can be divided by zero", reads(mutex: 0))
  }

  /// The one that is missing may be the least.
  @Test func `the least of several states needs all of them`() throws {
    func state(_ name: String) -> [CellResult] {
      ["replayed", "mutex"].map { result("\(name).1-reads", $0, $0 == "mutex" ? 1 : 20, .millionPerSecond) }
    }
    let text = "reads of 1 with .replayed"
    let all = ofAllStates(state)
    #expect(try #require(lines(all).first { $0.contains(text) }).hasSuffix(" met"))
    try expectNotJudged(
      "state.array was not measured", all.filter { !$0.caseName.hasPrefix("state.array") }, text)
    let moved = all.map { one in
      var moved = one
      if one.caseName.hasPrefix("state.inline"), one.variant == "mutex" { moved.placement = .far }
      return moved
    }
    try expectNotJudged("state.inline: the cores were placed in different ways", moved, text)
    try expectNotJudged("state.size.1000 was not measured, and 5 more", state("state.size.10"), text)
  }

  @Test func `bytes are judged wherever the cores are`() throws {
    let line = try #require(
      lines([
        result("scale.idle.made", "caller", 100, .bytes, placement: .unknown),
        result("scale.idle.object", "caller", 48, .bytes, placement: .near),
      ]).first { $0.contains("caller") })
    #expect(line.hasSuffix(" met"))
  }
}
