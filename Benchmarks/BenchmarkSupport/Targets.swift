/// All promises with a number, and the table that compares them with what was measured.
package enum Targets {
  package static let all: [Target] =
    reading + sizes + memory + scale + latency + requests + observation

  private static let reading: [Target] =
    [("reads", "beside the owner"), ("floating", "on all cores")].flatMap {
      (part: String, place: String) -> [Target] in
      // Of rows that publish equally often.
      [("turns of 1024", "c", "pthread-mutex-turn"), ("turns of one", "c-each", "pthread-mutex")].map {
        (turns: String, variant: String, other: String) -> Target in
        compared(
          "reads of 4 \(place), \(turns), against a pthread mutex", .atLeast(10),
          "readers.\(part)", variant, other, 4)
      }
    }
    + [1, 2, 4, 8].map { (readers: Int) -> Target in
      Target(
        text: "the owner's speed while \(readers) read, of that alone", bound: .atLeast(0.8), unit: "",
        figure: { results in alone(Side("readers.kept", "c", readers), in: results) })
    }
    + [1, 2, 4, 8].map { (readers: Int) -> Target in
      compared(
        "reads of \(readers) while the owner rests, against liburcu", .atLeast(1), "readers.resting", "c",
        "urcu", readers)
    }

  /// The cases in which an action changes one element of a large state.
  private static let states: [(name: String, text: String)] = [
    ("state.size.10", "a dictionary of 10"), ("state.size.1000", "a dictionary of 1,000"),
    ("state.size.10000", "a dictionary of 10,000"), ("state.size.100000", "a dictionary of 100,000"),
    ("state.size.1000000", "a dictionary of 1,000,000"), ("state.array", "an array of 100,000"),
    ("state.inline", "64 KiB inline"),
  ]

  private static let sizes: [Target] =
    changes("a change of", by: "c", .atMost(1.5))
    + changes("a change on a loop of", by: "c-loop", .atMost(1.5))
    + changes("a change with .replayed of", by: "replayed", .atMost(3))
    + [(1, "1-reader"), (4, "4-readers")].map { (readers: Int, part: String) -> Target in
      Target(
        text: "speed with .replayed while \(readers) read, of that alone: the least", bound: .atLeast(0.5),
        unit: "",
        figure: { results in
          // The figures are times, so the speeds have the inverse ratio.
          leastOfStates { state in
            ratio(
              Side("\(state).alone", "replayed"), Side("\(state).\(part)", "replayed"), in: results,
              leastOf: states.count)
          }
        })
    }
    + [1, 4].map { (readers: Int) -> Target in
      Target(
        text: "reads of \(readers) with .replayed, against a mutex: the least", bound: .atLeast(10),
        unit: " ×",
        figure: { results in
          leastOfStates { state in
            let name = "\(state).\(readers)-reads"
            return ratio(
              Side(name, "replayed"), Side(name, "mutex"), in: results, leastOf: states.count)
          }
        })
    }

  /// The least of the figures of all states.
  private static func leastOfStates(_ figure: (_ state: String) -> TargetFigure?) -> TargetFigure? {
    TargetFigure(leastOf: states.map { (name: $0.name, figure: figure($0.name)) })
  }

  private static let memory: [Target] = [("caller", "on .caller"), ("group", "in a group")].flatMap {
    (variant: String, place: String) -> [Target] in
    [("made", "beyond the object itself"), ("used", "after its first action")].map {
      (part: String, time: String) -> Target in
      Target(
        text: "an idle reactor \(place), \(time)", bound: .atMost(192), unit: " B",
        figure: { results in
          judged(["scale.idle.\(part)", "scale.idle.object"].map { Side($0, variant) }, in: results) {
            TargetFigure($0[0].figure, minus: $0[1].figure, in: $1)
          }
        })
    }
  }

  /// As many as the run has of each, and the last point of the curve.
  private static let scale: [Target] = [("scale.busy", "many"), ("curve.reactors.1000000", "a million")]
    .flatMap { (name: String, count: String) -> [Target] in
      let (part, text) = ("\(name).actions", "actions of \(count) reactors")
      return [
        compared("\(text) in a group, against actors", .atLeast(1.5), part, "group", "actor"),
        compared("\(text) in a group, against .caller", .atLeast(1), part, "group", "caller"),
        compared(
          "\(text) on .caller, against pthread mutexes", .atLeast(0.5), part, "caller", "pthread-mutex"),
      ]
    }

  private static let latency: [Target] = [
    Target(
      text: "p50 of a parked loop, against a bare futex wake", bound: .atMost(1.2), unit: " ×",
      figure: { results in
        besideLimit(Side("latency.parked.p50", "c"), in: results) { TargetFigure($0, dividedBy: $1, in: $2) }
      }),
    Target(
      // A thread on a bare futex sleeps once. One more sleep is a wake for nothing.
      text: "sleeps of a parked loop and its sender, for each action", bound: .atMost(1.1), unit: "",
      figure: { results in alone(Side("latency.parked.sleeps", "c"), in: results) }),
    Target(
      text: "p50 of a busy loop, above half of the round trip", bound: .atMost(60), unit: " ns",
      figure: { results in
        besideLimit(Side("latency.busy.p50", "c"), in: results) { TargetFigure($0, minus: $1, in: $2) }
      }),
  ]

  private static let requests: [Target] = [
    compared(
      "an ask of an idle reactor, against the call of an actor", .atMost(1.5), "sync.ask", "c", "actor"),
    compared(
      "asks of 8 tasks at once, against calls of an actor", .atLeast(3), "ask.contended", "c", "actor", 8),
    compared(
      "an action with a string, an array and an object, against an integer", .atMost(2), "sync.realistic",
      "c", "c-item"),
  ]

  private static let observation: [Target] = [
    Target(
      text: "a changed property of a state that is observed", bound: .atMost(50), unit: " ns",
      figure: { results in
        let sides = ["observed-long-turns", "plain-long-turns"].map { Side("publish.observed", $0) }
        return judged(sides, in: results) { found, placement in
          // An action changes two properties.
          TargetFigure(found[0].figure, minus: found[1].figure, dividedBy: 2, in: placement)
        }
      })
  ]

  /// The promises of which this run measured something.
  static func measured(_ results: [CellResult]) -> [(target: Target, figure: TargetFigure)] {
    all.compactMap { target in target.figure(results).map { (target: target, figure: $0) } }
  }

  /// A row for each promise of which this run measured something; nil if there are none.
  package static func table(_ results: [CellResult]) -> Table? {
    let rows = measured(results)
    guard !rows.isEmpty else { return nil }
    func column(_ text: (_ target: Target, _ figure: TargetFigure) -> String) -> Table.Column {
      Table.Column(header: "", cells: rows.map { [text($0.target, $0.figure)] })
    }
    var columns = [
      column { $0.text(of: $1) }, column { target, _ in target.boundText }, column { $1.placementText },
      column { $0.verdict(on: $1).text },
    ]
    if rows.contains(where: { $0.figure.remark != nil }) { columns.append(column { $1.remark ?? "" }) }
    return Table(
      title: "What is promised of the C core, and what was measured in which placement of the cores",
      labels: rows.map(\.target.text), columns: columns, remark: Chance.remark(verdicts: rows.count))
  }

  /// One row for each of ``states``: a change of it by one variant, against a mutex.
  private static func changes(_ text: String, by variant: String, _ bound: Target.Bound) -> [Target] {
    states.map {
      compared("\(text) \($0.text), against a mutex", bound, "\($0.name).alone", variant, "mutex")
    }
  }

  /// The figure of one variant of a case, divided by that of another.
  private static func compared(
    _ text: String, _ bound: Target.Bound, _ name: String, _ variant: String, _ other: String,
    _ producers: Int? = nil
  ) -> Target {
    Target(
      text: text, bound: bound, unit: " ×",
      figure: { results in
        ratio(Side(name, variant, producers), Side(name, other, producers), in: results)
      })
  }
}

/// How figures are found in the results of a run, and which of them can be compared.
extension Targets {
  /// One of the figures that a promise is computed from.
  private struct Side {
    let name: String
    let variant: String
    /// Nil if the case has one number of producers only.
    let producers: Int?

    init(_ name: String, _ variant: String, _ producers: Int? = nil) {
      (self.name, self.variant, self.producers) = (name, variant, producers)
    }

    func isIt(_ result: CellResult) -> Bool {
      result.caseName == name && result.variant == variant
        && (producers == nil || result.producers == producers)
    }
  }

  /// Calls `figure` with the result of each side and their placement, if all were measured and can be compared. Nil if none was
  /// measured.
  private static func judged(
    _ sides: [Side], in results: [CellResult],
    _ figure: (_ found: [CellResult], _ placement: CorePlacement) -> TargetFigure
  ) -> TargetFigure? {
    let found = sides.map { side in results.first(where: side.isIt) }
    let measured = found.compactMap(\.self)
    guard let first = measured.first else { return nil }
    let missing = zip(sides, found).first { $0.1 == nil }.map { "\($0.0.variant) was not measured" }
    if let obstacle = missing ?? obstacle(measured) {
      return TargetFigure(obstacle: obstacle, in: measured.map(\.placement))
    }
    var figure = figure(measured, first.placement)
    // What it is compared with is subtracted, or divides it.
    figure.isLowerBound = first.isLowerBound
    return figure
  }

  /// Why these results cannot be judged together; nil if they can.
  private static func obstacle(_ results: [CellResult]) -> String? {
    if let wrong = results.first(where: { !$0.verified }) { return "\(wrong.variant) was wrong" }
    if let cut = results.dropFirst().first(where: \.isLowerBound) {
      return "\(cut.variant) is a lower bound only"
    }
    // How many bytes something takes does not depend on where the cores are.
    let placements = Set(results.filter { $0.unit != .bytes }.map(\.placement))
    if placements.contains(.unknown) { return "the placement of the cores is not known" }
    return placements.count > 1 ? "the cores were placed in different ways" : nil
  }

  /// A figure by itself.
  private static func alone(_ side: Side, in results: [CellResult]) -> TargetFigure? {
    judged([side], in: results) { TargetFigure($0[0].figure, in: $1) }
  }

  /// A figure beside the machine's limit, which was measured in the same rounds.
  private static func besideLimit(
    _ side: Side, in results: [CellResult],
    _ figure: (_ figure: Figure, _ limit: Figure, _ placement: CorePlacement) -> TargetFigure
  ) -> TargetFigure? {
    judged([side], in: results) { found, placement in
      guard let limit = found[0].limit else {
        return TargetFigure(
          obstacle: "its limit was not measured, or in another placement of the cores", in: [placement])
      }
      return figure(found[0].figure, limit, placement)
    }
  }

  /// The first figure divided by the second one, unless that is zero: readers that never ran beside a busy owner.
  private static func ratio(
    _ side: Side, _ other: Side, in results: [CellResult], leastOf family: Int = 1
  ) -> TargetFigure? {
    judged([side, other], in: results) { found, placement in
      func compared(_ result: CellResult) -> Figure? {
        Figure(result.comparedSamples, rounds: result.figure.rounds)
      }
      guard found[1].figure.median > 0, let dividend = compared(found[0]), let divisor = compared(found[1])
      else { return TargetFigure(obstacle: "nothing can be divided by zero", in: [placement]) }
      return TargetFigure(dividend, dividedBy: divisor, leastOf: family, in: placement)
    }
  }
}

extension TargetFigure {
  var placementText: String { placements.map(\.rawValue).joined(separator: "/") }
}
