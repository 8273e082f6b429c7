import BenchmarkSupport
import ReactorCore

/// One row of a case: a name and the way to measure it.
struct Variant: Sendable {
  typealias Measure = @Sendable (Shape, RepetitionRequest, Instruments) throws -> Measurement

  let name: String
  /// Whether it sends numbered items, so that a separate pass can check their order.
  let hasOrder: Bool
  /// The name of the row that the other executable measures, if the variant runs on the core that was built in: see
  /// ``Twin``.
  let twin: String?
  let measure: Measure

  init(name: String, hasOrder: Bool, twin: String? = nil, measure: @escaping Measure) {
    self.name = name
    self.hasOrder = hasOrder
    self.twin = twin
    self.measure = measure
  }

  /// A subject as a variant. The closure is made where the type `Subject` is known, so that each subject's loop is
  /// compiled for it alone, and the erased call costs once per repetition.
  static func subject<Subject: FanInSubject>(
    _ name: String, _: Subject.Type, hasOrder: Bool = true, twin: String? = nil
  ) -> Variant {
    Variant(name: name, hasOrder: hasOrder, twin: twin) { shape, request, instruments in
      switch shape {
      case .fanIn(let consumer, let capacity):
        try ThreadedMeasurement.fanIn(Subject.self, consumer, capacity: capacity, request, instruments)
      case .synchronous:
        try SynchronousMeasurement.run(Subject.self, request, instruments)
      case .latency(let consumer, let interval):
        try LatencyMeasurement.run(Subject.self, consumer, every: interval, request, instruments)
      case .readers, .scale, .sizes:
        throw SubjectFailure("takes part in no such case")
      }
    }
  }

  /// A subject on the core that was built in, whose row has that core's name.
  static func onCore<Subject: FanInSubject>(
    _ subject: Subject.Type, suffix: String = "", hasOrder: Bool = true
  ) -> Variant {
    .subject(coreName + suffix, subject, hasOrder: hasOrder, twin: twinCoreName + suffix)
  }

  static func onCore<Subject: ReadSubject>(_ subject: Subject.Type, suffix: String = "") -> Variant {
    .reads(coreName + suffix, subject, twin: twinCoreName + suffix)
  }

  static func reads<Subject: ReadSubject>(
    _ name: String, _: Subject.Type, twin: String? = nil
  ) -> Variant {
    Variant(name: name, hasOrder: false, twin: twin) { _, request, instruments in
      try ReadersMeasurement.run(Subject.self, request, instruments)
    }
  }

  static func population<Members: Population>(_ name: String, _: Members.Type) -> Variant {
    Variant(name: name, hasOrder: false) { shape, request, instruments in
      guard case .scale(let shape, _) = shape else { throw SubjectFailure("takes part in no such case") }
      return try shape.run(Members.self, request, instruments)
    }
  }

  static func elements<Subject: ElementSubject>(
    _ name: String, _: Subject.Type, twin: String? = nil
  ) -> Variant {
    Variant(name: name, hasOrder: false, twin: twin) { shape, request, _ in
      guard case .sizes(let shape) = shape else { throw SubjectFailure("takes part in no such case") }
      return try shape.run(Subject.self, request)
    }
  }

  static func onCore<Subject: ElementSubject>(_ subject: Subject.Type, suffix: String = "") -> Variant {
    .elements(coreName + suffix, subject, twin: twinCoreName + suffix)
  }

  private static var coreName: String { CurrentCore.name.lowercased() }
  private static var twinCoreName: String { coreName == "c" ? "swift" : "c" }
}
