/// All promises with a number, and the table that compares them with what was measured.
package enum Targets {
  package static let all: [Target] =
    reading + sizes + memory + scale + latency + requests + observation

  private static let reading: [Target] =
    [("reads", "beside the owner's core"), ("floating", "on all cores")].map {
      (part: String, place: String) -> Target in
      compared(
        "reads of 4 threads \(place), against a pthread mutex", .atLeast(10), "readers.\(part)", "c",
        "pthread-mutex", 4)
    }
    + [1, 2, 4, 8].map { (readers: Int) -> Target in
      Target(
        text: "the owner's speed while \(readers) read, of that alone", bound: .atLeast(0.8), unit: "",
        figure: { results in find("readers.kept", "c", readers, in: results).map { TargetFigure($0.figure) } }
      )
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
            let alone = find("\(state).alone", "replayed", in: results)
            return paired(alone, find("\(state).\(part)", "replayed", in: results))
          }
        })
    }
    + [1, 4].map { (readers: Int) -> Target in
      Target(
        text: "reads of \(readers) with .replayed, against a mutex: the least", bound: .atLeast(10),
        unit: " ×",
        figure: { results in
          leastOfStates { state in
            let reads = find("\(state).\(readers)-reads", "replayed", in: results)
            return ratio(reads, find("\(state).\(readers)-reads", "mutex", in: results))
          }
        })
    }

  /// The least of the figures of those states that were measured.
  private static func leastOfStates(_ figure: (_ state: String) -> TargetFigure?) -> TargetFigure? {
    TargetFigure(leastOf: states.compactMap { figure($0.name) })
  }

  private static let memory: [Target] = [("caller", "on .caller"), ("group", "in a group")].flatMap {
    (variant: String, place: String) -> [Target] in
    [("made", "beyond the object itself"), ("used", "after its first action")].map {
      (part: String, time: String) -> Target in
      Target(
        text: "an idle reactor \(place), \(time)", bound: .atMost(192), unit: " B",
        figure: { results in find("scale.idle.\(part)", variant, in: results).map { TargetFigure($0.figure) }
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
        find("latency.parked.p50", "c", in: results).flatMap { parked in
          parked.limit.map { TargetFigure(parked.figure, dividedBy: $0) }
        }
      }),
    Target(
      text: "wakes of a parked loop, for each of its sleeps", bound: .atMost(1), unit: "",
      figure: { results in
        let wakes = find("latency.parked.wakes", "c", in: results)
        return paired(wakes, find("latency.parked.parks", "c", in: results))
      }),
    Target(
      text: "p50 of a busy loop, above half of the round trip", bound: .atMost(60), unit: " ns",
      figure: { results in
        find("latency.busy.p50", "c", in: results).flatMap { busy in
          busy.limit.map { TargetFigure(busy.figure, minus: $0) }
        }
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
        guard let plain = find("publish.observed", "plain-long-turns", in: results),
          let observed = find("publish.observed", "observed-long-turns", in: results)
        else { return nil }
        // An action changes two properties.
        return TargetFigure(observed.figure, minus: plain.figure, dividedBy: 2)
      })
  ]

  /// The promises that this run measured.
  static func measured(_ results: [CellResult]) -> [(target: Target, figure: TargetFigure)] {
    all.compactMap { target in target.figure(results).map { (target: target, figure: $0) } }
  }

  /// A row for each promise that this run measured; nil if it measured none.
  package static func table(_ results: [CellResult]) -> Table? {
    let rows = measured(results)
    guard !rows.isEmpty else { return nil }
    func column(_ text: (_ target: Target, _ figure: TargetFigure) -> String) -> Table.Column {
      Table.Column(header: "", cells: rows.map { [text($0.target, $0.figure)] })
    }
    return Table(
      title: "What is promised of the C core, and what was measured", labels: rows.map(\.target.text),
      columns: [
        column { FigureFormat.number($1.value) + $0.unit }, column { target, _ in target.boundText },
        column { $0.verdict(on: $1).text },
      ])
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
        let figure = find(name, variant, producers, in: results)
        return ratio(figure, find(name, other, producers, in: results))
      })
  }

  private static func find(
    _ name: String, _ variant: String, _ producers: Int? = nil, in results: [CellResult]
  ) -> CellResult? {
    results.first {
      $0.caseName == name && $0.variant == variant && (producers == nil || $0.producers == producers)
    }
  }

  /// Nil if the two were measured in different placements of the cores, which cannot be compared, or if the other one is zero:
  /// readers that never ran beside a busy owner.
  private static func ratio(_ figure: CellResult?, _ other: CellResult?) -> TargetFigure? {
    guard let figure, let other, figure.placement == other.placement, other.figure.median > 0,
      let dividend = Figure(figure.comparedSamples), let divisor = Figure(other.comparedSamples)
    else { return nil }
    return TargetFigure(dividend, dividedBy: divisor)
  }

  /// The same of two parts of one variant, each repetition's by its own.
  private static func paired(_ figure: CellResult?, _ other: CellResult?) -> TargetFigure? {
    guard let figure, let other, figure.placement == other.placement else { return nil }
    let pairs = zip(figure.figure.samples, other.figure.samples).filter { $0.1 > 0 }
    return Figure(pairs.map { $0.0 / $0.1 }).map { TargetFigure($0) }
  }
}
