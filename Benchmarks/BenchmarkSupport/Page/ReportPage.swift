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

  /// - Parameters:
  ///   - failures: A sentence for each result that was wrong.
  ///   - isIncomplete: Whether the run ended before all was measured.
  ///   - race: A report of the race against other queues, which gets a section of its own.
  package init(
    _ run: RunDescription, _ outlines: [CaseOutline], _ results: [CellResult], groups: [GroupRecord],
    failures: [String], isIncomplete: Bool = false, race: RaceReport? = nil
  ) {
    data = PageData(
      run: PageData.Run(run), cases: (outlines + (race?.outlines ?? [])).map(PageData.Case.init),
      results: results + (race?.results ?? []),
      promises: Targets.measured(results).map(PageData.Promise.init), groups: groups, failures: failures,
      isIncomplete: isIncomplete, race: race.map(PageData.Race.init))
  }

  /// A page of the race alone.
  package init(_ race: RaceReport) {
    self.init(race.run, [], [], groups: [], failures: [], race: race)
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
    let curve: Curve?

    struct Curve: Encodable, Sendable {
      let name: String
      let x: Int
      let axis: String
    }

    init(_ outline: CaseOutline) {
      (name, kind) = (outline.name, outline.kind)
      limit = outline.limit.map { Limit(name: $0.name, scale: $0.scale) }
      curve = outline.curve.map { Curve(name: $0.name, x: $0.x, axis: $0.axis) }
      parts = outline.parts.map { Part(name: $0.name, unit: $0.unit, meaning: $0.meaning) }
    }
  }

  struct Promise: Encodable, Sendable {
    let text: String
    let measured: String
    let bound: String
    let placement: String
    let verdict: String
    /// Nil if the repetitions do not tell, or it cannot be judged.
    let isMet: Bool?

    init(_ measured: (target: Target, figure: TargetFigure)) {
      text = measured.target.text
      self.measured = measured.target.text(of: measured.figure)
      bound = measured.target.boundText
      placement = measured.figure.placementText
      let verdict = measured.target.verdict(on: measured.figure)
      self.verdict = ([verdict.text] + [measured.figure.remark].compactMap(\.self)).joined(separator: ": ")
      isMet =
        switch verdict {
        case .met: true
        case .notMet: false
        case .undecided, .tooFew, .notJudged: nil
        }
    }
  }

  struct Race: Encodable, Sendable {
    struct Bar: Encodable, Sendable {
      let text: String
      let peer: String
      let ratio: String
      let interval: String
      let bound: String
      let judgement: String
      /// Nil if it was not judged.
      let isReached: Bool?
    }

    let run: Run
    let bars: [Bar]
    /// A sentence's part on the queues that are not there.
    let absent: String?
    let problems: [RaceReport.Problem]

    init(_ race: RaceReport) {
      run = Run(race.run)
      problems = race.problems
      absent = race.absentPeersText
      bars = race.bars.map { bar in
        let isReached: Bool? =
          switch bar.judgement {
          case .reached, .reachedAim: true
          case .missed: false
          case .undecided, .tooNoisy, .noPeer, .notJudged: nil
          }
        return Bar(
          text: bar.text, peer: bar.peerLines.joined(separator: "; "), ratio: bar.ratioText,
          interval: bar.intervalText, bound: bar.boundText, judgement: bar.judgement.text,
          isReached: isReached)
      }
    }
  }

  let run: Run
  let cases: [Case]
  let results: [CellResult]
  let promises: [Promise]
  let groups: [GroupRecord]
  let failures: [String]
  let isIncomplete: Bool
  let race: Race?
}
