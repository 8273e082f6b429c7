import BenchmarkSupport

/// Variants that do the same work and are compared.
struct Case: Sendable {
  let outline: CaseOutline
  let shape: Shape
  /// Nil: as many producers as the command line says.
  let producers: Int?
  let unit: FigureUnit
  let variants: [Variant]
  let needsTwoCores: Bool

  var name: String { outline.name }

  init(_ name: String, _ shape: Shape, limit: CaseOutline.Limit, variants: [Variant]) {
    outline = CaseOutline(name: name, kind: shape.kind, limit: limit)
    self.shape = shape
    producers = if case .fanIn = shape { nil } else { 1 }
    unit = if case .fanIn = shape { .millionPerSecond } else { .nanoseconds }
    self.variants = variants
    needsTwoCores = false
  }

  /// A limit of the machine. It is measured in the same rounds as the first case that it bounds.
  init(limit name: String, _ unit: FigureUnit, producers: Int, needsTwoCores: Bool = false, variant: Variant)
  {
    outline = CaseOutline(name: name, kind: .limit)
    shape = .fanIn(.busy)
    self.producers = producers
    self.unit = unit
    variants = [variant]
    self.needsTwoCores = needsTwoCores
  }
}
