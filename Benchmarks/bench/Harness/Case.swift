import BenchmarkSupport

/// Variants that do the same work and are compared.
struct Case: Sendable {
  let outline: CaseOutline
  let shape: Shape
  /// Nil: the numbers of producers, or readers, come from the command line.
  let producers: Int?
  /// The unit of the figure of a case without parts.
  let unit: FigureUnit
  private(set) var variants: [Variant]
  let needsTwoCores: Bool

  var name: String { outline.name }

  /// The same case, with what `rows` returns for each variant in its place.
  func replacingVariants(_ rows: (Variant) -> [Variant]) -> Case {
    var copy = self
    copy.variants = variants.flatMap(rows)
    return copy
  }

  init(_ name: String, _ shape: Shape, limit: CaseOutline.Limit? = nil, variants: [Variant]) {
    outline = CaseOutline(name: name, kind: shape.kind, limit: limit, parts: shape.parts)
    self.shape = shape
    switch shape {
    case .fanIn, .readers: producers = nil
    case .synchronous, .latency: producers = 1
    case .scale(let shape): producers = shape.threads
    case .sizes: producers = 1
    }
    unit = if case .fanIn = shape { .millionPerSecond } else { .nanoseconds }
    self.variants = variants
    needsTwoCores = false
  }

  /// A limit of the machine. It is measured again with each case that it bounds.
  init(
    limit name: String, _ unit: FigureUnit, _ shape: Shape = .fanIn(.busy), producers: Int,
    needsTwoCores: Bool = false, variant: Variant
  ) {
    outline = CaseOutline(name: name, kind: .limit, parts: shape.parts)
    self.shape = shape
    self.producers = producers
    self.unit = unit
    variants = [variant]
    self.needsTwoCores = needsTwoCores
  }
}

/// What the repetitions of a case do with a subject.
enum Shape: Sendable {
  /// `producers` threads; figures in M/s.
  case fanIn(ConsumerMode)
  /// One thread; figures in ns per action.
  case synchronous
  /// One producer with a schedule; figures in ns. An item is due every so many nanoseconds.
  case latency(ConsumerMode, interval: Double)
  /// An owner, and as many readers as the cell has producers.
  case readers
  /// Very many subjects at once.
  case scale(ScaleShape)
  /// A writer, and readers of a state of some size.
  case sizes(SizedStateShape)

  var kind: CaseOutline.Kind {
    switch self {
    case .fanIn: .throughput
    case .synchronous: .time
    case .latency: .latency
    case .readers: .readers
    case .scale: .scale
    case .sizes: .sizes
    }
  }

  /// The figures of a repetition, if there is more than one.
  var parts: [CaseOutline.Part] {
    switch self {
    case .fanIn, .synchronous: []
    case .latency(.parked, _): CaseOutline.percentileParts + LatencyMeasurement.sleepingParts
    case .latency: CaseOutline.percentileParts
    case .readers: ReadersMeasurement.parts
    case .scale(let shape): shape.parts
    case .sizes: SizedStateShape.parts
    }
  }

  /// Whether a repetition does as many actions as fit into its time. That number must be measured first.
  var isCalibrated: Bool {
    switch self {
    case .fanIn, .synchronous: true
    case .latency, .readers, .scale, .sizes: false
    }
  }
}
