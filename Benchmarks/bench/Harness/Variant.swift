import BenchmarkSupport

/// What the repetitions of a case do with a subject.
enum Shape: Sendable {
  /// `producers` threads; figures in M/s.
  case fanIn(ConsumerMode)
  /// One thread; figures in ns per action.
  case synchronous
  /// One producer with a schedule; figures in ns.
  case latency(ConsumerMode)

  var kind: CaseOutline.Kind {
    switch self {
    case .fanIn: .throughput
    case .synchronous: .time
    case .latency: .latency
    }
  }
}

/// One row of a case: a name and the way to measure it.
struct Variant: Sendable {
  typealias Measure = @Sendable (Shape, RepetitionRequest, Instruments) throws -> Measurement

  let name: String
  /// Whether it sends numbered items, so that their order can be checked in a pass of its own.
  let hasOrder: Bool
  let measure: Measure

  /// A subject as a variant. The closure is made here, where `Subject` is known, so that crossing the
  /// erasure once per repetition is all that it costs.
  static func subject<Subject: FanInSubject>(_ name: String, _: Subject.Type) -> Variant {
    Variant(name: name, hasOrder: true) { shape, request, instruments in
      switch shape {
      case .fanIn(let consumer):
        try ThreadedMeasurement.fanIn(Subject.self, consumer, request, instruments)
      case .synchronous:
        try SynchronousMeasurement.run(Subject.self, request, instruments)
      case .latency(let consumer):
        try LatencyMeasurement.run(Subject.self, consumer, request, instruments)
      }
    }
  }
}
