import Foundation
import Testing

@testable import BenchmarkSupport

@Suite struct ReportTests {
  private func result(
    _ name: String, _ variant: String, _ producers: Int, _ values: [Double],
    _ unit: FigureUnit = .millionPerSecond,
    allocations: Double? = 0, placement: CorePlacement = .near, verified: Bool = true, share: Double? = nil
  ) -> CellResult {
    // One value stands for as many repetitions as a figure needs.
    CellResult(
      caseName: name, variant: variant, producers: producers, unit: unit,
      figure: Figure(values.count == 1 ? Array(repeating: values[0], count: 4) : values)!,
      allocationsPerAction: allocations, placement: placement, verified: verified, shareOfLimit: share)
  }

  @Test func `a percentile is thin if fewer than ten items are beyond it`() {
    #expect(CaseOutline.isThin("p99.9", of: 9_999))
    #expect(!CaseOutline.isThin("p99.9", of: 10_000))
    #expect(!CaseOutline.isThin("p99", of: 1_000))
    #expect(CaseOutline.isThin("max", of: 1_000_000))
    #expect(!CaseOutline.isThin("sleeps", of: 1))
  }

  @Test func `a figure is the least value, the median and the largest one`() throws {
    let odd = try #require(Figure([5, 1, 3]))
    #expect((odd.min, odd.median, odd.max) == (1, 3, 5))
    #expect(Figure([4, 1, 2, 3])?.median == 2.5)
    #expect(Figure([]) == nil)
  }

  @Test func `the share of a limit is one at the limit`() {
    #expect(FigureUnit.millionPerSecond.fraction(of: 200, reached: 50) == 0.25)
    #expect(FigureUnit.nanoseconds.fraction(of: 50, reached: 200) == 0.25)
    #expect(FigureUnit.millionPerSecond.fraction(of: 0, reached: 50) == nil)
    #expect(FigureUnit.nanoseconds.fraction(of: 50, reached: 0) == nil)
  }

  @Test(arguments: [
    (0.0, "0"), (0.0551, "0.055"), (0.1, "0.10"), (9.994, "9.99"), (9.996, "10.0"), (99.94, "99.9"),
    (99.96, "100"), (1234.4, "1234"),
  ])
  func `numbers have three digits`(_ value: Double, _ text: String) {
    #expect(FigureFormat.number(value) == text)
  }

  @Test func `long times change their unit`() {
    #expect(FigureFormat.figure(Figure([70, 76, 81])!, .nanoseconds) == "76.0 (70.0–81.0)")
    #expect(FigureFormat.figure(Figure([9_000, 20_000, 30_000])!, .nanoseconds) == "20.0µs (9.00–30.0)")
    #expect(FigureFormat.figure(Figure([2_500_000])!, .nanoseconds) == "2.50ms (2.50–2.50)")
    #expect(FigureFormat.figure(Figure([20_000])!, .millionPerSecond) == "20000 (20000–20000)")
    #expect(FigureFormat.figure(Figure([132_688])!, .bytes) == "133kB (133–133)")
    #expect(FigureFormat.figure(Figure([480])!, .bytes) == "480 (480–480)")
  }

  @Test func `figures that say little are marked`() {
    #expect(result("a", "c", 1, [100, 101, 102, 103]).marks == "")
    #expect(result("a", "c", 1, [100, 101, 102]).marks == "~")
    // One wild repetition of five.
    #expect(result("a", "c", 1, [100, 101, 102, 103, 500]).marks == "")
    #expect(result("a", "c", 1, [60, 70, 100, 130, 140]).marks == "~")
    // Its quartiles are near, but it is of two kinds.
    var wild = result("a", "c", 1, [42, 0.15, 0.39, 0.39, 0.3])
    #expect(wild.marks == "~")
    #expect(result("a", "c", 1, [0, 0, 0, 0, 3]).marks == "~")
    #expect(result("a", "c", 1, [0, 0, 0, 0, 0.001]).marks == "")
    // A file without the repetitions.
    wild.figure = Figure(min: 1, median: 2, max: 9)
    #expect(wild.marks == "")
    wild.isLowerBound = true
    #expect(wild.marks == "≥")
    wild.isThin = true
    #expect(wild.marks == "~≥")
    let outline = CaseOutline(name: "ring.single", kind: .throughput)
    let limit = CaseOutline(name: "limit.spsc", kind: .limit)
    var cut = result("ring.single", "cut", 1, [7, 8])
    cut.isLowerBound = true
    let text = TextReport(
      [outline, limit],
      [
        result("ring.single", "c", 1, [95, 97, 99]), cut,
        result("ring.single", "far", 1, [1, 20, 30, 90], placement: .far),
        result("limit.spsc", "limit", 1, [200, 201]),
      ]
    ).rendered()
    #expect(text.contains(" ~97.0 (95.0–99.0)"))
    #expect(text.contains("~≥7.50 (7.00–8.00)"))
    #expect(text.contains("?~25.0 (1.00–90.0)"))
    #expect(text.contains("~200 (200–201)") || text.contains("~201 (200–201)"))
  }

  @Test func `a ratio and a share of what says little are marked, too`() {
    let outline = CaseOutline(name: "ring.single", kind: .throughput, limit: .init("limit.spsc"))
    func bounded(_ variant: String, _ values: [Double], limit: [Double]) -> CellResult {
      var made = result("ring.single", variant, 1, values, share: 0.5)
      made.limit = Figure(limit)
      return made
    }
    let (steady, wild) = ([100.0, 101, 102, 103], [40.0, 80, 120, 160])
    func text(_ results: [CellResult]) -> String { TextReport([outline], results).rendered() }
    let fine = text([bounded("c", steady, limit: steady), bounded("swift", steady, limit: steady)])
    #expect(!fine.contains("~"))
    let reference = text([bounded("c", wild, limit: steady), bounded("swift", steady, limit: steady)])
    #expect(reference.contains("~1.00× ~50%"))
    #expect(reference.contains("~1.01× 50%") || reference.contains("~1.02× 50%"))
    let limit = text([bounded("c", steady, limit: wild)])
    #expect(limit.contains("1.00× ~50%") && !limit.contains("~1.00×"))
  }

  @Test func `small allocation counts are noise`() {
    #expect(FigureFormat.allocations(nil) == "n/a")
    #expect(FigureFormat.allocations(0.0009) == "0")
    #expect(FigureFormat.allocations(0.001) == "0.001")
    #expect(FigureFormat.allocations(3) == "3.00")
  }

  @Test func `a table aligns its columns and is split if it is too wide`() {
    let table = Table(
      title: "t", labels: ["a", "long"],
      columns: [
        Table.Column(header: "P=1", cells: [["1", "x"], ["22"]]),
        Table.Column(header: "P=2", cells: [["12345"], ["6"]]),
      ])
    #expect(
      table.rendered(width: 40) == """
        t
                P=1    P=2
          a       1  12345
                  x       
          long   22      6

        """)
    #expect(
      table.rendered(width: 14) == """
        t
                P=1
          a       1
                  x
          long   22

                  P=2
          a     12345
                     
          long      6

        """)
  }

  @Test func `the text report shows the ratio, the share and the placement`() {
    let outline = CaseOutline(name: "ring.single", kind: .throughput, limit: .init("limit.spsc"))
    let text = TextReport(
      [outline, CaseOutline(name: "limit.spsc", kind: .limit)],
      [
        result("ring.single", "c", 1, [100], share: 0.5),
        result("ring.single", "swift", 1, [50, 51, 52], allocations: 1, share: 0.25),
        result("ring.single", "c", 2, [80], placement: .far),
        result("ring.single", "swift", 2, [8], placement: .unknown, verified: false),
        result("limit.spsc", "limit", 1, [200]),
      ]
    ).rendered()
    #expect(text.contains("P=1 near"))
    #expect(text.contains("P=2 far"))
    #expect(text.contains("~0.51× ~25%"))
    #expect(text.contains("WRONG 8.00"))
    #expect(text.contains("The machine's limits"))
  }

  @Test func `a curve is one table with a column for each point`() {
    let outlines = [4, 1024].map { slots in
      CaseOutline(
        name: "curve.capacity.\(slots)", kind: .throughput,
        curve: .init(name: "curve.capacity", x: slots, axis: "slots"))
    }
    let readers = [0, 64].map { count in
      CaseOutline(
        name: "curve.readers.\(count)", kind: .readers,
        parts: [.init("kept", .ratio), .init("reads", .millionPerSecond)],
        curve: .init(name: "curve.readers", x: count, axis: "readers"))
    }
    let text = TextReport(
      outlines + readers,
      [
        result("curve.capacity.4", "c", 2, [3]), result("curve.capacity.1024", "c", 2, [60]),
        result("curve.capacity.1024", "ring", 2, [90], placement: .far),
        result("curve.readers.64.kept", "c", 64, [0.5], .ratio),
        result("curve.readers.0.reads", "c", 0, [0]), result("curve.readers.0.reads", "urcu", 0, [0]),
      ]
    ).rendered()
    #expect(text.contains("curve.capacity.* · M actions/s, by slots"))
    #expect(text.contains("4 near"))
    #expect(text.contains("1024 near"))
    #expect(text.contains("?90.0"))
    #expect(text.contains("curve.readers.*.kept · ratio, by readers"))
    #expect(text.components(separatedBy: "curve.").count == 4)
    #expect(!text.contains("nan"))
  }

  @Test func `a missing figure is a dash`() {
    let outline = CaseOutline(name: "reactor.loop", kind: .throughput, limit: .init("limit.spsc"))
    let text = TextReport(
      [outline], [result("reactor.loop", "mutex", 1, [100]), result("reactor.loop", "actor", 2, [2])]
    ).rendered()
    // The others are compared with the first variant, which the second column lacks.
    #expect(text.contains("1.00× –"))
    #expect(text.contains("– –"))
    #expect(!text.contains("limits"))
  }

  @Test func `the percentiles of a latency are columns`() {
    let outline = CaseOutline(
      name: "latency.busy", kind: .latency, limit: .init("limit.roundtrip", scale: 0.5))
    let text = TextReport(
      [outline],
      [
        result("latency.busy.p50", "c", 1, [76], .nanoseconds),
        result("latency.busy.max", "c", 1, [9_000], .nanoseconds),
      ]
    ).rendered()
    #expect(text.contains("limit: 0.50 × limit.roundtrip"))
    #expect(text.contains("p50 near"))
    #expect(text.contains("max near"))
    #expect(!text.contains("p90"))
  }

  /// Ratios of ratios say nothing, and a case without a limit has no share of one.
  @Test func `readers have a table for each part`() {
    let outline = CaseOutline(
      name: "readers", kind: .readers,
      parts: [
        .init("reads", .millionPerSecond, "M reads/s of all"), .init("kept", .ratio, "of the owner's speed"),
      ])
    let text = TextReport(
      [outline],
      [
        result("readers.reads", "c", 1, [90]), result("readers.reads", "c", 4, [300]),
        result("readers.reads", "urcu", 4, [600]), result("readers.kept", "c", 4, [0.9], .ratio),
      ]
    ).rendered()
    #expect(text.contains("readers.reads · M reads/s of all\n"))
    #expect(text.contains("readers.kept · of the owner's speed\n"))
    #expect(text.contains("R=1 near"))
    #expect(text.contains("R=4 near"))
    #expect(text.contains("2.00×"))
    #expect(text.contains("0.90 (0.90–0.90)"))
    #expect(text.components(separatedBy: "1.00×").count - 1 == 2)
    #expect(!text.contains("%"))
    #expect(!text.contains("× –"))
    #expect(!text.contains("allocs"))
  }

  @Test func `the parts of a case of many are columns`() {
    let outline = CaseOutline(
      name: "scale.idle", kind: .scale, parts: [.init("made", .bytes), .init("making", .nanoseconds)])
    let text = TextReport(
      [outline],
      [
        result("scale.idle.made", "caller", 1, [480], .bytes),
        result("scale.idle.making", "caller", 1, [900], .nanoseconds),
      ]
    ).rendered()
    #expect(text.contains("made near"))
    #expect(text.contains("making near"))
    #expect(!text.contains("allocs"))
  }

  @Test func `a limit with parts has a row for each`() {
    let outline = CaseOutline(name: "limit.wakeup", kind: .limit, parts: CaseOutline.percentileParts)
    let text = TextReport(
      [outline],
      [
        result("limit.wakeup.p50", "limit", 1, [21_000], .nanoseconds),
        result("limit.wakeup.p99", "limit", 1, [30_000], .nanoseconds),
      ]
    ).rendered()
    #expect(text.contains("limit.wakeup.p50"))
    #expect(text.contains("limit.wakeup.p99"))
  }

  @Test func `json has the agreed shape`() throws {
    let run = RunDescription(
      machine: MachineDescription(
        cpu: "A CPU", cores: 2, kernel: "Linux 6", architecture: "x86_64", loadAverage: 0.5,
        roundTripNanoseconds: 100),
      compiler: "Swift 6.3", commit: "abc-dirty", reactors: 1000, configuration: "release", seconds: 0.25)
    let report = JSONReport(
      run,
      [
        result("ring.single", "c", 4, [1, 2, 4], allocations: nil, share: 0.5),
        result("sync.uncontended", "swift", 1, [12], .nanoseconds, placement: .unknown, verified: false),
      ])
    let object = try #require(try JSONSerialization.jsonObject(with: report.data()) as? [String: Any])
    #expect(object["schema"] as? Int == 1)
    #expect(object["compiler"] as? String == "Swift 6.3")
    #expect(object["commit"] as? String == "abc-dirty")
    #expect(object["reactors"] as? Int == 1000)
    #expect(object["configuration"] as? String == "release")
    #expect(object["seconds"] as? Double == 0.25)
    #expect(object["failures"] as? [String] == [])
    #expect(object["isIncomplete"] as? Bool == false)
    #expect((object["machine"] as? [String: Any])?["cpu"] as? String == "A CPU")
    let results = try #require(object["results"] as? [[String: Any]])
    let keys: Set = [
      "case", "variant", "producers", "unit", "min", "median", "max", "samples", "allocationsPerAction",
      "placement", "verified", "shareOfLimit",
    ]
    for result in results { #expect(Set(result.keys) == keys) }
    #expect(results[0]["case"] as? String == "ring.single")
    #expect(results[0]["unit"] as? String == "M/s")
    #expect(results[0]["median"] as? Double == 2)
    #expect(results[0]["samples"] as? [Double] == [1, 2, 4])
    #expect(results[0]["allocationsPerAction"] is NSNull)
    #expect(results[1]["unit"] as? String == "ns")
    #expect(results[1]["placement"] as? String == "unknown")
    #expect(results[1]["verified"] as? Bool == false)
  }
}
