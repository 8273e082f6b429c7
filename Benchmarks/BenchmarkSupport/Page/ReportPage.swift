import Foundation

/// How the repetitions of one group of the run were placed, and how many of them were discarded for that.
package struct GroupRecord: Encodable, Sendable {
  package let title: String
  private let placement: CorePlacement
  private let repetitions: Int
  private let discarded: Int
  /// How many repetitions each class has.
  private let placements: [String: Int]

  /// - Parameters:
  ///   - kept: the placement in which repetitions count.
  ///   - all: the placement of each repetition.
  package init(title: String, kept: CorePlacement, all: [CorePlacement], discarded: Int) {
    self.title = title
    placement = kept
    repetitions = all.count
    self.discarded = discarded
    placements = Dictionary(grouping: all, by: \.rawValue).mapValues(\.count)
  }
}

/// A run as one page of HTML that needs no other file and no network. What it shows is drawn by `page.js` from the data
/// in it.
package struct ReportPage: Sendable {
  private let data: PageData

  /// - Parameter failures: a sentence for each result that was wrong.
  package init(
    _ run: RunDescription, _ outlines: [CaseOutline], _ results: [CellResult], groups: [GroupRecord],
    failures: [String]
  ) {
    data = PageData(
      run: PageData.Run(run), cases: outlines.map(PageData.Case.init), results: results,
      promises: Targets.measured(results).map(PageData.Promise.init), groups: groups, failures: failures)
  }

  package func html() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A '<' can only be inside of a string, and there it could end the script that holds the data.
    let json = String(decoding: try encoder.encode(data), as: UTF8.self)
      .replacingOccurrences(of: "<", with: "\\u003c")
    // The data comes last, since it may contain the names of the other places.
    return Self.text(PackageResources.page_html)
      .replacingOccurrences(of: "{{style}}", with: Self.text(PackageResources.page_css))
      .replacingOccurrences(of: "{{script}}", with: Self.text(PackageResources.page_js))
      .replacingOccurrences(of: "{{data}}", with: json)
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// What `page.js` reads.
private struct PageData: Encodable, Sendable {
  struct Run: Encodable, Sendable {
    let cpu: String
    let cores: Int
    let kernel: String
    let architecture: String
    let loadAverage: Double
    let roundTripNanoseconds: Double?
    let compiler: String
    let commit: String
    let reactors: Int
    let measuredAt: String?

    init(_ run: RunDescription) {
      (cpu, cores) = (run.machine.cpu, run.machine.cores)
      (kernel, architecture) = (run.machine.kernel, run.machine.architecture)
      loadAverage = run.machine.loadAverage
      roundTripNanoseconds = run.machine.roundTripNanoseconds
      (compiler, commit, reactors, measuredAt) = (run.compiler, run.commit, run.reactors, run.measuredAt)
    }
  }

  struct Case: Encodable, Sendable {
    struct Limit: Encodable, Sendable {
      let name: String
      let scale: Double
    }

    struct Part: Encodable, Sendable {
      let name: String
      let unit: FigureUnit
      let meaning: String
    }

    let name: String
    let kind: CaseOutline.Kind
    let limit: Limit?
    let parts: [Part]

    init(_ outline: CaseOutline) {
      (name, kind) = (outline.name, outline.kind)
      limit = outline.limit.map { Limit(name: $0.name, scale: $0.scale) }
      parts = outline.parts.map { Part(name: $0.name, unit: $0.unit, meaning: $0.meaning) }
    }
  }

  struct Promise: Encodable, Sendable {
    let text: String
    let measured: String
    let bound: String
    let isMet: Bool

    init(_ measured: (target: Target, figure: Double)) {
      text = measured.target.text
      self.measured = FigureFormat.number(measured.figure) + measured.target.unit
      bound = measured.target.boundText
      isMet = measured.target.isMet(by: measured.figure)
    }
  }

  let run: Run
  let cases: [Case]
  let results: [CellResult]
  let promises: [Promise]
  let groups: [GroupRecord]
  let failures: [String]
}
