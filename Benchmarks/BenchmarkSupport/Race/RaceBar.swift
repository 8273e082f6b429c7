/// What one of our queues is to reach beside others, and whether it did.
package struct RaceBar: Equatable, Sendable {
  package enum Judgement: Equatable, Sendable {
    /// The whole interval is at the aim or above it.
    case reachedAim
    /// The whole interval is at the bound or above it.
    case reached
    /// The whole interval is below the bound.
    case missed
    /// The interval contains the bound.
    case undecided
    /// The repetitions vary too much to say.
    case tooNoisy
    /// None of the queues that it is to be compared with is there, or none that keeps its promises.
    case noPeer
    case notJudged(Verdict.Reason)

    var text: String {
      switch self {
      case .reachedAim: "reached, and the aim"
      case .reached: "reached"
      case .missed: "MISSED"
      case .undecided: "undecided"
      case .tooNoisy: "too noisy"
      case .noPeer: "not judged: no peer"
      case .notJudged(let reason): reason.rawValue
      }
    }
  }

  package let text: String
  /// The queue that ours is compared with; nil if there is none.
  package let peer: String?
  /// The results, ours and those of peers, that were not considered, since they have too few repetitions.
  package let leftOut: [String]
  /// The least ratio of the speeds, and the one that is aimed for.
  package let bound: Double
  package let aim: Double?
  /// Our speed divided by that of the peer; nil if there are too few repetitions.
  package let ratio: RatioInterval?
  package let judgement: Judgement

  var boundText: String {
    "at least \(FigureFormat.number(bound))" + (aim.map { ", aim \(FigureFormat.number($0))" } ?? "")
  }

  /// The queue that ours is compared with, and then a line for each result that was left out.
  var peerLines: [String] { [peer ?? "–"] + leftOut.map { "left out: \($0)" } }

  /// - Parameter ours: Nil if nothing is left of it, since it is wrong.
  init(
    _ text: String, _ ours: RaceReport.Choice?, against peer: RaceReport.Choice?, bound: Double, aim: Double?,
    asked: CorePlacement?, isWrong: Bool
  ) {
    self.text = text
    self.peer = peer?.best.subject
    leftOut = ((ours?.leftOut ?? []) + (peer?.leftOut ?? [])).map { entry in
      "\(entry.result.variant) (\(entry.repetitions == 1 ? "1 repetition" : "\(entry.repetitions) repetitions"))"
    }
    self.bound = bound
    self.aim = aim
    guard let ours, let peer else {
      (ratio, judgement) = (nil, isWrong || ours == nil ? .notJudged(.wrong) : .noPeer)
      return
    }
    let (own, other) = (ours.best.result, peer.best.result)
    let (faster, slower) = own.unit.isRate ? (own, other) : (other, own)
    let hasEnough = ours.best.hasEnough && peer.best.hasEnough
    let ratio = hasEnough ? faster.figure.ratio(to: slower.figure) : nil
    self.ratio = ratio
    judgement =
      isWrong || !own.verified
      ? .notJudged(.wrong) : Self.judge(own, other, ratio, bound: bound, aim: aim, asked: asked)
  }

  private static func judge(
    _ own: CellResult, _ other: CellResult, _ ratio: RatioInterval?, bound: Double, aim: Double?,
    asked: CorePlacement?
  ) -> Judgement {
    let placement = asked ?? own.placement
    guard own.placement == placement, other.placement == placement, placement != .unknown else {
      return .notJudged(.placement)
    }
    guard let ratio else { return .notJudged(.tooFew) }
    guard max(own.figure.spread, other.figure.spread) <= Figure.largestSpread else { return .tooNoisy }
    if let aim, ratio.lower >= aim { return .reachedAim }
    if ratio.lower >= bound { return .reached }
    return ratio.upper < bound ? .missed : .undecided
  }
}

/// The bars of the race, as far as the report has our queue. The row of one whose peers are not there stays: what vanishes is taken
/// for reached.
extension RaceReport {
  package var bars: [RaceBar] {
    let keys = results.map { (name: $0.caseName, producers: $0.producers) }
    var seen: Set<String> = []
    return keys.filter { seen.insert("\($0.name) \($0.producers)").inserted }.flatMap {
      bars($0.name, $0.producers)
    }
  }

  private func bars(_ name: String, _ producers: Int) -> [RaceBar] {
    // "peers.single", "peers.pinned.burst16", "peers.latency.p99"
    let isThroughput = name.hasSuffix(".single") || name.contains(".burst")
    let place = "\(name.dropFirst("peers.".count)), P=\(producers)"
    func bar(
      _ what: String, _ ours: String, _ bound: Double, aim: Double? = nil, against isPeer: (Entry) -> Bool
    ) -> RaceBar? {
      // A peer that loses order or items is none. If one of ours did, or stalled, paced or not, it must be seen here, even
      // if nothing is left of it.
      let isWrong = !problems(of: ours, name, producers).isEmpty
      let own = choose(name, producers) { $0.subject == ours }
      guard own != nil || isWrong else { return nil }
      let peer = choose(name, producers) { isPeer($0) && !isBreached($0) }
      return RaceBar(
        "\(place): \(what)", own, against: peer, bound: bound, aim: aim, asked: placementAsked,
        isWrong: isWrong)
    }
    func isOther(_ entry: Entry) -> Bool { !entry.subject.hasPrefix("ours") }
    func boundedFIFO(_ entry: Entry) -> Bool { isOther(entry) && entry.isBounded && entry.isFIFO }
    let bars: [RaceBar?]
    if !isThroughput {
      bars = [bar("not above the best peer", "ours", 1, against: isOther)]
    } else if name.hasSuffix(".single") {
      bars = [
        bar("the best bounded FIFO peer", "ours", 1, aim: 1.25, against: boundedFIFO),
        bar("lanes, against moodycamel with tokens", "ours lanes", 3) { $0.subject == "moodycamel" },
        bar("with parking, against without", "ours parking", 0.9) { $0.subject == "ours" },
      ]
    } else {
      bars = [
        bar("claims, against BBQ", "ours", 1, aim: 1.25) { $0.subject.hasPrefix("bbq") },
        bar("claims, against rte_ring", "ours", 1.25) { $0.subject.hasPrefix("rte_ring") },
        bar("lanes, against moodycamel in bulk", "ours lanes", 3) { $0.subject == "moodycamel" },
        bar("with parking, against without", "ours parking", 0.9) { $0.subject == "ours" },
      ]
    }
    return bars.compactMap { $0 }
  }

  /// The bars as a table; nil if there are none.
  package var barsTable: Table? {
    let bars = bars
    guard !bars.isEmpty else { return nil }
    func column(_ header: String, _ text: (RaceBar) -> String) -> Table.Column {
      Table.Column(header: header, cells: bars.map { [text($0)] })
    }
    let peers = Table.Column(header: "against", cells: bars.map(\.peerLines))
    let title = ["Our speed divided by that of others, and the bar for it", absentPeersText]
    return Table(
      title: title.compactMap(\.self).joined(separator: "\n"), labels: bars.map(\.text),
      columns: [
        peers, column("ratio") { $0.ratioText }, column("interval", \.intervalText),
        column("bar", \.boundText), column("", \.judgement.text),
      ], remark: Chance.remark(verdicts: bars.count))
  }
}

extension RaceBar {
  var ratioText: String { ratio.map { FigureFormat.number($0.estimate) } ?? "–" }
  /// With its confidence.
  var intervalText: String {
    ratio.map { "\(FigureFormat.number($0.lower))–\(FigureFormat.number($0.upper)) (\($0.percent) %)" } ?? "–"
  }
}
