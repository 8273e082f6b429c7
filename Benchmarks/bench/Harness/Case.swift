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
    producers = shape.threads
    unit = shape.unit
    self.variants = variants
    needsTwoCores = false
  }

  /// One point of a curve, which is named after the curve and the number.
  ///
  /// - Parameters:
  ///   - x: How much there is of what grows.
  ///   - axis: What that is.
  ///   - threads: The number of producers or readers, for shapes that leave it to the command line.
  init(
    curve: String, at x: Int, of axis: String, _ shape: Shape, threads: Int? = nil, variants: [Variant]
  ) {
    outline = CaseOutline(
      name: "\(curve).\(x)", kind: shape.kind, parts: shape.parts,
      curve: CaseOutline.Curve(name: curve, x: x, axis: axis))
    self.shape = shape
    producers = threads ?? shape.threads
    unit = shape.unit
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
  case fanIn(ConsumerMode, capacity: Int = ThreadedMeasurement.capacity)
  /// One thread; figures in ns per action.
  case synchronous
  /// One producer with a schedule; figures in ns. An item is due every so many nanoseconds.
  case latency(ConsumerMode, interval: Double)
  /// An owner, and as many readers as the cell has producers.
  case readers
  /// Very many subjects at once: as many as the command line says, or a number of the case's own.
  case scale(ScaleShape, members: Int? = nil)
  /// A writer, and readers of a state of some size.
  case sizes(SizedStateShape)

  /// The number of producers; nil if it comes from the command line.
  var threads: Int? {
    switch self {
    case .fanIn, .readers: nil
    case .synchronous, .latency, .sizes: 1
    case .scale(let shape, _): shape.threads
    }
  }

  /// The unit of the figure of a case without parts.
  var unit: FigureUnit {
    if case .fanIn = self { .millionPerSecond } else { .nanoseconds }
  }

  /// How many subjects a repetition has at once, or elements in the state of its subject. A smoke run has no more of what has a
  /// number of its own than of the rest.
  func members(_ options: Options) -> Int {
    let own: Int? =
      switch self {
      case .scale(_, let members): members
      case .sizes(let shape): shape.count
      default: nil
      }
    guard let own else { return options.reactors }
    return options.quick ? min(own, options.reactors) : own
  }

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
    case .scale(let shape, _): shape.parts
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
