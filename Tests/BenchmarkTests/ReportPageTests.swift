import Foundation
import Testing

@testable import BenchmarkSupport

@Suite struct ReportPageTests {
  private static let machine = MachineDescription(
    cpu: "A CPU </script><script>fail()", cores: 2, kernel: "Linux 6", architecture: "x86_64",
    loadAverage: 0.5, roundTripNanoseconds: 100)

  private static let outlines =
    [
      CaseOutline(name: "ring.single", kind: .throughput, limit: .init("limit.spsc")),
      CaseOutline(name: "sync.uncontended", kind: .time, limit: .init("limit.fetchadd")),
      CaseOutline(name: "latency.busy", kind: .latency, limit: .init("limit.roundtrip", scale: 0.5)),
      CaseOutline(
        name: "readers", kind: .readers,
        parts: [
          .init("reads", .millionPerSecond, "M reads/s"), .init("kept", .ratio, "of the owner's speed"),
        ]),
      CaseOutline(
        name: "scale.idle", kind: .scale, parts: [.init("made", .bytes), .init("making", .nanoseconds)]),
    ]
    + [10, 1000, 100_000].map { size in
      CaseOutline(name: "state.size.\(size)", kind: .sizes, parts: [.init("alone", .nanoseconds)])
    }
    + [0, 1, 64].map { count in
      CaseOutline(
        name: "curve.subscribers.\(count)", kind: .time,
        curve: .init(name: "curve.subscribers", x: count, axis: "subscribers"))
    }
    + [CaseOutline(name: "sync.contended", kind: .time)]
    + ["spsc", "fetchadd", "roundtrip"].map { CaseOutline(name: "limit.\($0)", kind: .limit) }

  /// Two variants of each case, one of them placed elsewhere at two threads; and one figure that says little.
  private static let results =
    regularResults
    + ["c", "mutex", "actor"].map { variant in
      CellResult(
        caseName: "sync.contended", variant: variant, producers: 8, unit: .nanoseconds,
        figure: Figure(variant == "mutex" ? [40, 60, 100, 120] : [60, 60, 60, 61])!, allocationsPerAction: 0,
        placement: variant == "c" ? .near : .unknown, verified: true, shareOfLimit: 0.5)
    } + [
      CellResult(
        caseName: "sync.uncontended", variant: "cut", producers: 1, unit: .nanoseconds,
        figure: Figure([60, 60, 60])!, allocationsPerAction: 0, placement: .near, verified: true,
        isLowerBound: true, shareOfLimit: 0.5)
    ]

  private static let regularResults = outlines.flatMap { outline -> [CellResult] in
    let parts =
      outline.parts.isEmpty
      ? [(name: outline.name, unit: outline.kind == .throughput ? .millionPerSecond : FigureUnit.nanoseconds)]
      : outline.parts.map { (name: outline.resultName($0), unit: $0.unit) }
    // The figures of this one are below.
    if outline.name == "sync.contended" { return [] }
    let threads = outline.kind == .throughput || outline.kind == .readers ? [1, 2, 8] : [1]
    return parts.flatMap { part in
      threads.flatMap { count in
        ["c", "mutex<\"&"].map { variant in
          CellResult(
            caseName: part.name, variant: variant, producers: count, unit: part.unit,
            figure: Figure([90, 100, 110, 130].map { $0 * Double(count) })!, allocationsPerAction: 0,
            placement: variant == "c" || count != 2 ? .near : .far, verified: true, shareOfLimit: 0.5,
            limit: outline.limit.flatMap { _ in Figure([45, 45, 46, 44]) })
        }
      }
    }
  }

  /// Two queues at two numbers of producers, and at one.
  private static let race = RaceFile(
    rows: ["ours", "bbq<"].flatMap { subject in
      [1, 2].map { RaceFile.Row(subject: subject, producers: $0, values: [100, 101, 102, 103, 104]) }
        + [
          RaceFile.Row(
            name: "peers.latency.p99", subject: subject, producers: 1, values: [50, 51, 52, 53, 54],
            unit: "ns")
        ]
    } + [RaceFile.Row(subject: "ck_ring", producers: 2, values: [], words: "STALLED")])

  private func page() throws -> String {
    try ReportPage(
      RunDescription(
        machine: Self.machine, compiler: "Swift 6.3", commit: "abc", reactors: 1000,
        measuredAt: "2026-01-01T00:00:00Z"), Self.outlines, Self.results,
      groups: [
        GroupRecord(
          title: "ring.single P=1", kept: .near, all: [.near, .far, .near, .unknown], discarded: 2)
      ],
      failures: ["ring.single mutex P=8: not their sum"], isIncomplete: true, race: Self.race.report()
    ).html()
  }

  /// The data of a page, read as a browser does: up to the next end of a script.
  private func data(of page: String) throws -> [String: Any] {
    let start = try #require(page.range(of: "<script type=\"application/json\" id=\"data\">")).upperBound
    let end = try #require(page.range(of: "</script", range: start..<page.endIndex)).lowerBound
    return try #require(
      try JSONSerialization.jsonObject(with: Data(page[start..<end].utf8)) as? [String: Any])
  }

  @Test func `the page has every case, and every figure with its repetitions`() throws {
    let data = try data(of: page())
    let cases = try #require(data["cases"] as? [[String: Any]])
    let race = try Self.race.report()
    let names = Self.outlines.map(\.name) + race.outlines.map(\.name)
    #expect(cases.compactMap { $0["name"] as? String } == names)
    let results = try #require(data["results"] as? [[String: Any]])
    let shown = Self.results + race.results
    #expect(results.compactMap { $0["case"] as? String } == shown.map(\.caseName))
    #expect(results.compactMap { ($0["samples"] as? [Double])?.count } == shown.map(\.figure.samples.count))
    #expect(results.prefix(Self.results.count).allSatisfy { $0["shareOfLimit"] as? Double == 0.5 })
  }

  @Test func `the page says which bars the race reaches, and what went wrong in it`() throws {
    let race = try #require(try data(of: page())["race"] as? [String: Any])
    let bars = try #require(race["bars"] as? [[String: Any]])
    #expect(bars.compactMap { $0["text"] as? String } == (try Self.race.report().bars.map(\.text)))
    #expect(bars.count == 3)
    let problem = try #require((race["problems"] as? [[String: Any]])?.first)
    #expect(problem["variant"] as? String == "ck_ring")
    #expect(problem["words"] as? String == "STALLED")
  }

  @Test func `the page says what was discarded, what was wrong and what was promised`() throws {
    let data = try data(of: page())
    let group = try #require((data["groups"] as? [[String: Any]])?.first)
    #expect(group["discarded"] as? Int == 2)
    #expect(group["repetitions"] as? Int == 4)
    #expect(group["placement"] as? String == "near")
    #expect(group["placements"] as? [String: Int] == ["near": 2, "far": 1, "unknown": 1])
    #expect(data["failures"] as? [String] == ["ring.single mutex P=8: not their sum"])
    #expect(data["isIncomplete"] as? Bool == true)
    let promises = try #require(data["promises"] as? [[String: Any]])
    #expect(promises.allSatisfy { $0["placement"] is String })
    let texts = promises.compactMap { $0["text"] as? String }
    #expect(texts == Targets.measured(Self.results).map(\.target.text))
  }

  @Test func `nothing in the data ends its script, and nothing is fetched`() throws {
    let page = try page()
    // The two scripts of the page, and none from the data.
    #expect(page.components(separatedBy: "<script").count == 3)
    #expect(page.components(separatedBy: "</script>").count == 3)
    #expect(page.components(separatedBy: "</style>").count == 2)
    #expect((try data(of: page)["run"] as? [String: Any])?["cpu"] as? String == Self.machine.cpu)
    #expect(!page.contains("{{"))
    for reference in ["src=", "<link", "@import", "url(", "fetch(", "innerHTML", "document.write"] {
      #expect(!page.contains(reference), "\(reference)")
    }
  }

  // MARK: With other programs, if they are installed

  @Test(.enabled(if: Program.node != nil)) func `the script of the page can be parsed`() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = folder.appending(component: "page.js")
    try Data(PackageResources.page_js).write(to: script)
    let node = try #require(Program.node)
    #expect(try Program.output(of: node, ["--check", script.path]).status == 0)
  }

  /// With what the script uses of a browser.
  @Test(.enabled(if: Program.node != nil), .timeLimit(.minutes(2)))
  func `the script draws every case and every section`() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (page, program) = (folder.appending(component: "a.html"), folder.appending(component: "draw.js"))
    try self.page().write(to: page, atomically: true, encoding: .utf8)
    try Self.browser.write(to: program, atomically: true, encoding: .utf8)
    let node = try #require(Program.node)
    let (status, document) = try Program.output(of: node, [program.path, page.path])
    #expect(status == 0)
    try check(document)
  }

  /// Reads a page, runs its script, and prints the document that it makes.
  private static let browser = #"""
    const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
    class Node {
      constructor(name) { Object.assign(this, { name, attributes: {}, children: [], style: {}, dataset: {} }); }
      setAttribute(key, value) { this.attributes[key] = String(value); }
      getAttribute(key) { return this.attributes[key] ?? null; }
      append(...children) { this.children.push(...children); }
      set textContent(text) { this.children = [String(text)]; }
      get textContent() { return this.children.map((child) => child.textContent ?? child).join(''); }
      addEventListener() {}
      get all() { return [this, ...this.children.flatMap((child) => child.all ?? [])]; }
      get html() {
        const data = Object.entries(this.dataset).map(([key, value]) => ` data-${key}="${value}"`);
        const attributes = Object.entries(this.attributes).map(([key, value]) => ` ${key}="${value}"`);
        const children = this.children.map((child) => child.html ?? escaped(child));
        return `<${this.name}${data.join('')}${attributes.join('')}>${children.join('')}</${this.name}>`;
      }
    }
    const page = require('fs').readFileSync(process.argv[2], 'utf8');
    const scripts = [...page.matchAll(/<script[^>]*>([^]*?)<\/script>/g)].map((match) => match[1]);
    const places = new Map(['data', 'main', 'tooltip', 'contents', 'run'].map((id) => [id, new Node(id)]));
    places.get('data').textContent = scripts[0];
    const root = new Node('html');
    root.append(...['run', 'contents', 'main', 'tooltip'].map((id) => places.get(id)));
    Object.assign(globalThis, {
      Node, innerWidth: 1000, window: new Node('window'),
      document: {
        createElement: (name) => new Node(name), createElementNS: (_, name) => new Node(name),
        getElementById: (id) => places.get(id), documentElement: root,
        querySelectorAll: () => root.all.filter((node) => node.name === 'figure')
          .flatMap((figure) => figure.all.filter((node) => node.name === 'svg')),
      },
    });
    (0, eval)(scripts[1]);
    console.log(root.html);
    """#

  @Test(.enabled(if: Program.chromium != nil), .timeLimit(.minutes(2)))
  func `a browser draws every case without a script error`() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(component: "report.html")
    try page().write(to: file, atomically: true, encoding: .utf8)
    let chromium = try #require(Program.chromium)
    let (status, document) = try Program.output(
      of: chromium,
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.path)/profile", "--dump-dom",
        file.absoluteString,
      ])
    #expect(status == 0)
    try check(document)
  }

  /// Fails unless the script of the page has drawn all that is in its data.
  private func check(_ document: String) throws {
    // What is only in the data, which the page contains as well, was not drawn.
    let document = Self.withoutScripts(document)
    #expect(!document.contains("isReached"))
    #expect(document.contains("data-drawn="))
    #expect(!document.contains("data-error="))
    let drawn = Set(
      document.components(separatedBy: "data-case=\"").dropFirst().flatMap { rest in
        rest.prefix { $0 != "\"" }.split(separator: " ").map(String.init)
      })
    #expect(drawn == Set((Self.results + (try Self.race.report().results)).map(\.caseName)))
    let race = try Self.race.report()
    let promises = Targets.measured(Self.results).map(\.target.text)
    #expect(!promises.isEmpty && !race.bars.isEmpty && !race.problems.isEmpty)
    let texts =
      race.bars.map(\.text) + race.problems.map(\.words) + promises
      + ["ring.single P=1", "not their sum", "limit.spsc"]
    for text in texts {
      let escaped = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")].reduce(text) { text, pair in
        text.replacingOccurrences(of: pair.0, with: pair.1)
      }
      #expect(document.contains(escaped), "\(text)")
    }
    // Bars say how many threads they are of. The placement that is not known is not that of a column, even if most have it.
    #expect(
      document.contains("fill-opacity=\"0.75\" tabindex=\"0\" role=\"img\" aria-label=\"c, 8 threads\n"))
    #expect(document.contains("aria-label=\"c, 1 thread\n"))
    // What is divided by or into something that says little has its mark.
    #expect(
      document.contains("aria-label=\"mutex, 8 threads\n~80.0 ns (40.0 ns to 120 ns)\n~1.33 × c\n~50.0 % of"))
    #expect(
      document.contains("aria-label=\"actor, 8 threads\n60.0 ns (60.0 ns to 61.0 ns)\n1.00 × c\n50.0 % of"))
    #expect(document.contains(" · ~1.33×"))
    // The figure of the one result with a mark, in its table and in its chart.
    #expect(document.contains(">~≥60.0 ns<"))
    #expect(document.contains(">105 ns<"))
    // The limit of the group of sync.uncontended, and not that of the whole run, which is 105 ns.
    #expect(document.contains("limit of the machine: limit.fetchadd, 45.0 ns"))
    // What a latency is divided by is a part of what was measured under that name.
    #expect(document.contains("limit of the machine: 0.5 × limit.roundtrip"))
  }

  /// The document without its scripts and their data.
  private static func withoutScripts(_ document: String) -> String {
    let parts = document.components(separatedBy: "<script")
    return
      (parts.prefix(1)
      + parts.dropFirst().map { part in
        part.range(of: "</script>").map { String(part[$0.upperBound...]) } ?? ""
      }).joined()
  }

  private func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(component: "report-page-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}

/// A program that a test needs, and that may be missing.
private enum Program {
  static let node = find("node")
  static let chromium = find("chromium") ?? find("chromium-browser") ?? find("google-chrome")

  private static func find(_ name: String) -> URL? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { URL(fileURLWithPath: "\($0)/\(name)") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  static func output(of program: URL, _ arguments: [String]) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }
}
