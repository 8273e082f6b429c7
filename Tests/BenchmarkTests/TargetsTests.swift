import Testing

@testable import BenchmarkSupport

@Suite struct TargetsTests {
  private func result(
    _ name: String, _ variant: String, _ value: Double, _ unit: FigureUnit, producers: Int = 1,
    placement: CorePlacement = .near, share: Double? = nil
  ) -> CellResult {
    CellResult(
      caseName: name, variant: variant, producers: producers, unit: unit, figure: Figure([value])!,
      allocationsPerAction: nil, placement: placement, verified: true, shareOfLimit: share)
  }

  private func lines(_ results: [CellResult]) -> [String] {
    Targets.table(results)?.rendered().split(separator: "\n").map(String.init) ?? []
  }

  @Test func `bounds include their value`() {
    let least = Target(text: "", bound: .atLeast(10), unit: "", figure: { _ in nil })
    #expect(least.isMet(by: 10))
    #expect(!least.isMet(by: 9.99))
    let most = Target(text: "", bound: .atMost(60), unit: "", figure: { _ in nil })
    #expect(most.isMet(by: 60))
    #expect(!most.isMet(by: 60.1))
  }

  @Test func `without figures there is no table`() {
    #expect(Targets.table([]) == nil)
    #expect(Targets.table([result("ring.single", "c", 1, .millionPerSecond)]) == nil)
  }

  @Test(arguments: [("reads", "beside the owner's core"), ("floating", "on all cores")])
  func `reads are compared with four readers`(_ part: String, _ place: String) throws {
    let reads = [
      result("readers.\(part)", "c", 300, .millionPerSecond, producers: 4),
      result("readers.\(part)", "pthread-mutex", 25, .millionPerSecond, producers: 4),
      result("readers.\(part)", "c", 1, .millionPerSecond, producers: 1),
      result("readers.\(part)", "pthread-mutex", 1, .millionPerSecond, producers: 1),
    ]
    let line = try #require(lines(reads).first { $0.contains(place) })
    #expect(line.contains("12.0 ×"))
    #expect(line.contains("at least 10.0 ×"))
    #expect(line.hasSuffix(" met"))
  }

  @Test func `figures of two placements are not compared`() {
    let reads = [
      result("readers.reads", "c", 300, .millionPerSecond, producers: 4),
      result("readers.reads", "pthread-mutex", 25, .millionPerSecond, producers: 4, placement: .far),
    ]
    #expect(lines(reads).isEmpty)
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
    let busy = [result("latency.busy.p50", "c", 130, .nanoseconds, share: 0.4)]
    let line = try #require(lines(busy).first { $0.contains("busy") })
    #expect(line.contains("78.0 ns"))
    #expect(line.hasSuffix("NOT MET"))
    #expect(lines([result("latency.busy.p50", "c", 130, .nanoseconds)]).isEmpty)
  }

  @Test func `wakes are divided by sleeps`() throws {
    let counts = [
      result("latency.parked.wakes", "c", 0.99, .perAction),
      result("latency.parked.parks", "c", 0.9, .perAction),
    ]
    let line = try #require(lines(counts).first { $0.contains("wakes") })
    #expect(line.contains("1.10"))
    #expect(line.hasSuffix("NOT MET"))
  }

  @Test func `a parked loop is compared with a bare wake`() throws {
    let parked = [result("latency.parked.p50", "c", 22_000, .nanoseconds, share: 0.9)]
    let line = try #require(lines(parked).first { $0.contains("parked") })
    #expect(line.contains("1.11 ×"))
    #expect(line.hasSuffix(" met"))
  }
}
