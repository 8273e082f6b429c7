import Foundation
import Testing

@testable import BenchmarkSupport

/// What `Benchmarks/peers` writes, in the order of its tables.
struct RaceFile {
  struct Row {
    var name = "peers.single"
    var subject: String
    var isPaced = false
    var producers = 2
    var values: [Double]
    var unit = "M/s"
    var isBounded = true
    var isFIFO = true
    var placement = "near"
    var words = ""
    /// Empty as in files from before they were written.
    var rounds: [Int] = []
  }

  var rows: [Row]
  var placementAsked: String?

  func data() throws -> Data { try JSONSerialization.data(withJSONObject: object) }
  func report() throws -> RaceReport { try RaceReport(data()) }

  private var object: [String: Any] {
    [
      "schema": 1, "reactors": 0, "compiler": "g++ 12", "commit": "abc", "measuredAt": "2026-01-01T00:00:00Z",
      "machine": [
        "cpu": "A CPU", "cores": 2, "kernel": "Linux 6", "architecture": "x86_64", "loadAverage": 0.5,
      ] as [String: Any],
      "placementAsked": placementAsked ?? NSNull() as Any,
      "results": rows.filter { !$0.values.isEmpty }.map(result),
      "problems": rows.filter { !$0.words.isEmpty }.map { row in
        [
          "case": workload(row), "variant": variant(row), "producers": row.producers, "words": row.words,
          "stalls": 1,
        ] as [String: Any]
      },
    ]
  }

  private func variant(_ row: Row) -> String { row.subject + (row.isPaced ? " paced" : "") }

  /// The problems of a latency have the name of the workload, without the percentile.
  private func workload(_ row: Row) -> String {
    row.name.split(separator: ".").filter { $0 != "p50" && $0 != "p99" }.joined(separator: ".")
  }

  private func result(_ row: Row) -> [String: Any] {
    [
      "case": row.name, "variant": variant(row), "subject": row.subject, "isBounded": row.isBounded,
      "isFIFO": row.isFIFO, "producers": row.producers, "unit": row.unit, "min": row.values.min()!,
      "median": row.values.sorted()[row.values.count / 2], "max": row.values.max()!, "samples": row.values,
      "rounds": row.rounds,
      "allocationsPerAction": NSNull(), "shareOfLimit": NSNull(), "placement": row.placement,
      "verified": row.words.isEmpty,
    ]
  }
}

@Suite struct RaceReportTests {
  typealias Row = RaceFile.Row

  /// Five repetitions about `value`, whose quartiles are 2 % apart.
  private func about(_ value: Double) -> [Double] { [0.98, 0.99, 1, 1.01, 1.02].map { $0 * value } }

  private func bars(_ rows: [Row], asked: String? = nil) throws -> [RaceBar] {
    try RaceFile(rows: rows, placementAsked: asked).report().bars
  }

  private func judgement(of ours: [Double], against peer: [Double]) throws -> RaceBar.Judgement {
    let bars = try bars([Row(subject: "ours", values: ours), Row(subject: "aeron", values: peer)])
    return try #require(bars.first).judgement
  }

  @Test func `a bar is reached if the whole interval is above it`() throws {
    #expect(try judgement(of: about(130), against: about(100)) == .reachedAim)
    #expect(try judgement(of: about(115), against: about(100)) == .reached)
    #expect(try judgement(of: about(100), against: about(100)) == .undecided)
    #expect(try judgement(of: about(90), against: about(100)) == .missed)
  }

  /// The machine became slower from round to round, by more than the two queues differ.
  @Test func `a bar is judged by the ratios of the rounds`() throws {
    let speeds = [120.0, 115, 110, 105, 100]
    var rows = [
      Row(subject: "ours", values: speeds.map { $0 * 1.1 }), Row(subject: "aeron", values: speeds),
    ]
    #expect(try bars(rows).map(\.judgement) == [.undecided])
    for index in rows.indices { rows[index].rounds = [1, 2, 3, 4, 5] }
    let bar = try #require(try bars(rows).first)
    #expect(bar.judgement == .reached)
    #expect(abs(try #require(bar.ratio).estimate - 1.1) < 1e-9)
    // The range of five ratios is an interval of 93.75 %.
    #expect(bar.intervalText == "1.10–1.10 (94 %)")
    for index in rows.indices {
      rows[index].values.append(rows[index].values[0])
      rows[index].rounds = [1, 2, 3, 4, 5, 6]
    }
    #expect(try bars(rows).map(\.intervalText) == ["1.10–1.10 (95 %)"])
  }

  @Test func `what goes wrong with one size of bursts is not a problem of another`() throws {
    let report = try RaceFile(rows: [
      Row(name: "peers.burst3", subject: "ours", values: about(130), words: "LOST-ORDER"),
      Row(name: "peers.burst32", subject: "ours", values: about(130)),
    ]).report()
    #expect(report.problems(of: "ours", "peers.burst3", 2).count == 1)
    #expect(report.problems(of: "ours", "peers.burst32", 2).isEmpty)
  }

  @Test func `a bar without its peer stays, and the queues that are not there are named`() throws {
    let burst = Row(name: "peers.burst16", subject: "ours", values: about(130))
    var rows = [burst]
    rows.append(Row(name: "peers.burst16", subject: "rte_ring hts", values: about(100)))
    let report = try RaceFile(rows: rows).report()
    #expect(report.bars.map(\.peer) == [nil, "rte_ring hts"])
    #expect(report.bars.map(\.judgement) == [.noPeer, .reached])
    let table = try #require(report.barsTable).rendered()
    #expect(table.contains("not judged: no peer"))
    #expect(table.hasSuffix("by chance. Here are 2.\n"))
    #expect(
      table.contains(
        "not in this race: aeron, atomic_queue, bbq, boost, ck_ring, libcds, moodycamel, tbb, urcu, xenium\n")
    )
    // One that breaks its promises is none, but it was there.
    rows[1].words = "LOST-ORDER"
    #expect(try bars(rows).map(\.judgement) == [.noPeer, .noPeer])
    rows[0].words = "STALLED"
    #expect(try bars(rows).map(\.judgement) == [.notJudged(.wrong), .notJudged(.wrong)])
    let all = RaceReport.peers.map { Row(subject: "\($0) x", values: about(100)) }
    #expect(try RaceFile(rows: all).report().absentPeersText == nil)
  }

  @Test func `what varies too much is not judged, however large the difference`() throws {
    #expect(try judgement(of: [50, 150, 210, 300, 500], against: about(10)) == .tooNoisy)
    #expect(try judgement(of: about(100), against: [10, 20, 40, 60, 80]) == .tooNoisy)
    #expect(try judgement(of: [100, 101], against: about(50)) == .notJudged(.tooFew))
  }

  @Test func `other placements than the one that was asked for are not judged`() throws {
    var rows = [Row(subject: "ours", values: about(130)), Row(subject: "aeron", values: about(100))]
    #expect(try bars(rows, asked: "near").map(\.judgement) == [.reachedAim])
    #expect(try bars(rows, asked: "far").map(\.judgement) == [.notJudged(.placement)])
    rows[1].placement = "far"
    #expect(try bars(rows).map(\.judgement) == [.notJudged(.placement)])
  }

  @Test(arguments: ["STALLED", "LOST-ORDER"])
  func `a result of ours that is wrong is not judged`(words: String) throws {
    let rows = [
      Row(subject: "ours", values: about(130), words: words), Row(subject: "aeron", values: about(100)),
    ]
    #expect(try bars(rows).map(\.judgement) == [.notJudged(.wrong)])
  }

  @Test func `the best bounded FIFO peer is one that loses nothing`() throws {
    let rows = [
      Row(subject: "ours", values: about(50)), Row(subject: "ours", isPaced: true, values: about(200)),
      Row(subject: "ours lanes", values: about(900), isFIFO: false),
      Row(subject: "unbounded", values: about(800), isBounded: false),
      Row(subject: "moodycamel", values: about(300), isBounded: false, isFIFO: false),
      Row(subject: "loses", values: about(700)),
      Row(subject: "loses", isPaced: true, values: about(700), words: "LOST-ORDER"),
      Row(subject: "stalls", values: about(160), words: "STALLED"), Row(subject: "slow", values: about(100)),
    ]
    let bars = try bars(rows)
    #expect(bars.map(\.peer) == ["stalls", "moodycamel"])
    #expect(bars.map(\.bound) == [1, 3])
    // The faster of ours is the paced one.
    #expect(abs(try #require(bars[0].ratio).estimate - 1.25) < 0.01)
    #expect(bars[1].judgement == .undecided)
  }

  @Test func `a peer with too few repetitions is not the best one, and is named`() throws {
    let rows = [
      Row(subject: "ours", values: about(130)), Row(subject: "slow", values: about(100)),
      Row(subject: "stalls", values: [900, 900, 900], words: "STALLED"),
      Row(subject: "half", values: about(90)), Row(subject: "half", isPaced: true, values: [800]),
    ]
    let report = try RaceFile(rows: rows).report()
    let bar = try #require(report.bars.first)
    #expect(bar.peer == "slow")
    #expect(bar.judgement == .reachedAim)
    #expect(bar.leftOut == ["stalls (3 repetitions)", "half paced (1 repetition)"])
    let table = try #require(report.barsTable).rendered()
    for variant in ["stalls", "half paced"] { #expect(table.contains("left out: \(variant) (")) }
    // One of a queue's two results is the other's substitute.
    #expect(report.results.map(\.figure.median) == [130, 100, 900, 90])
  }

  @Test func `a bar says that there are too few repetitions if all peers have too few`() throws {
    for values in [[100.0], [100, 100, 100]] {
      let bars = try bars([
        Row(subject: "ours", values: about(130) + about(130)), Row(subject: "stalls", values: values),
      ])
      #expect(bars.map(\.judgement) == [.notJudged(.tooFew)])
      #expect(bars.map(\.leftOut) == [[]])
    }
  }

  @Test(arguments: ["STALLED", "LOST-ORDER", "WRONG", "CRASHED"], [false, true])
  func `no bar is reached if the other result of ours is wrong`(words: String, isPaced: Bool) throws {
    let bars = try bars([
      Row(subject: "ours", isPaced: !isPaced, values: about(200)),
      Row(subject: "ours", isPaced: isPaced, values: about(50), words: words),
      Row(subject: "ours parking", values: about(200)), Row(subject: "aeron", values: about(100)),
    ])
    #expect(bars.map(\.judgement).first == .notJudged(.wrong))
  }

  @Test func `a bar is there if nothing is left of ours`() throws {
    let bars = try bars([
      Row(subject: "ours", values: [], words: "CRASHED"), Row(subject: "aeron", values: about(100)),
    ])
    #expect(bars.map(\.judgement) == [.notJudged(.wrong)])
    #expect(bars.map(\.peer) == ["aeron"])
    #expect(bars.map(\.ratio) == [nil])
  }

  @Test(arguments: ["peers.latency.p99", "peers.pinned.latency.p50", "peers.pingpong.p50"])
  func `a latency is compared with the best peer of any kind`(name: String) throws {
    func row(_ subject: String, _ value: Double) -> Row {
      Row(name: name, subject: subject, producers: 1, values: about(value), unit: "ns")
    }
    var rows = [row("ours", 50), row("ours parking", 5), row("bounded", 75), row("unbounded", 60)]
    rows[3].isBounded = false
    rows.append(row("no-order", 40))
    rows[4].isFIFO = false
    let bar = try #require(try bars(rows).first)
    #expect(bar.peer == "no-order")
    #expect(bar.judgement == .missed)
    #expect(try bars(Array(rows.dropLast())).first?.peer == "unbounded")
  }

  @Test func `claims are compared with BBQ and rte_ring, and parking with ours without`() throws {
    let bars = try bars(
      ["ours", "ours parking", "ours lanes", "bbq", "rte_ring", "rte_ring hts", "moodycamel"].enumerated().map
      {
        Row(name: "peers.pinned.burst16", subject: $1, values: about(100 + Double($0)))
      })
    #expect(bars.map(\.peer) == ["bbq", "rte_ring hts", "moodycamel", "ours"])
    #expect(bars.map(\.bound) == [1, 1.25, 3, 0.9])
    #expect(bars.allSatisfy { $0.text.hasPrefix("pinned.burst16, P=2: ") })
  }

  @Test func `the best of BBQ's numbers of blocks counts`() throws {
    let rows = ["ours", "bbq 16 blocks", "bbq 256 blocks", "bbq 64 blocks"].enumerated().map {
      Row(name: "peers.burst16", subject: $1, values: about([100, 80, 140, 120][$0]))
    }
    #expect(try bars(rows).map(\.peer) == ["bbq 256 blocks", nil])
    #expect(try bars(rows).map(\.judgement) == [.missed, .noPeer])
  }

  @Test func `less is better of a latency`() throws {
    func row(_ subject: String, _ value: Double) -> Row {
      Row(name: "peers.latency.p99", subject: subject, producers: 1, values: about(value), unit: "ns")
    }
    let bars = try bars([row("ours", 50), row("slow", 200), row("fast", 75)])
    #expect(bars.map(\.peer) == ["fast"])
    #expect(abs(try #require(bars[0].ratio).estimate - 1.5) < 0.01)
    #expect(bars[0].judgement == .reached)
  }

  @Test func `a table shows one result of each queue, with and without pacing`() throws {
    let report = try RaceFile(rows: [
      Row(subject: "ours", values: about(50)), Row(subject: "ours", isPaced: true, values: about(200)),
      Row(subject: "aeron", values: about(100)), Row(subject: "aeron", isPaced: true, values: about(60)),
    ]).report()
    #expect(report.results.map(\.variant) == ["ours", "aeron"])
    #expect(report.results.map(\.figure.median) == [200, 100])
    #expect(report.outlines.map(\.name) == ["peers.single"])
    let table = try #require(report.barsTable).rendered()
    for text in ["single, P=2: the best bounded FIFO peer", "aeron", "2.00", "at least 1.00, aim 1.25"] {
      #expect(table.contains(text), "\(text)")
    }
  }

  @Test func `another report is refused`() {
    let machine = MachineDescription(
      cpu: "A CPU", cores: 2, kernel: "Linux 6", architecture: "x86_64", loadAverage: 0)
    let run = RunDescription(machine: machine, compiler: "Swift", commit: "abc", reactors: 1)
    #expect(throws: UsageError("it is no report of Scripts/bench-peers.")) {
      try RaceReport(JSONReport(run, []).data())
    }
    #expect(throws: UsageError("it is no report of this benchmark.")) { try RaceReport(Data("{}".utf8)) }
  }
}
