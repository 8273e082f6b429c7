import BenchmarkSupport
import CBenchmarkLimits

/// Looks at each item as it is reduced: either at its place among those of its producer, or at its age.
///
/// `@unchecked Sendable`: touched only by `Tally.reduce`, which one thread at a time runs (that is what
/// is being measured), and by the harness after the subject has handed over its totals.
final class Inspector: @unchecked Sendable {
  private enum Duty {
    case order
    case latency(nanosecondsPerTick: Double)
  }

  private let duty: Duty
  private var next: [UInt64]
  private var latestDue: UInt64 = 0
  private(set) var orderViolations = 0
  private(set) var latencies = Histogram()

  /// Expects each producer's values to be 0, 1, 2, …
  static func order(producers: Int) -> Inspector {
    Inspector(.order, producers: producers)
  }

  /// Takes values for the ticks at which items were due.
  static func latency(nanosecondsPerTick: Double) -> Inspector {
    Inspector(.latency(nanosecondsPerTick: nanosecondsPerTick), producers: 0)
  }

  private init(_ duty: Duty, producers: Int) {
    self.duty = duty
    next = Array(repeating: 0, count: producers)
  }

  @inline(never)
  func inspect(_ item: Item) {
    switch duty {
    case .order: inspectOrder(item)
    case .latency(let nanosecondsPerTick):
      let now = bl_ticks()
      // The counters of two cores may differ by a few ticks.
      let age = now > item.value ? now - item.value : 0
      latencies.record(UInt64(Double(age) * nanosecondsPerTick))
      if item.value <= latestDue { orderViolations += 1 }
      latestDue = item.value
    }
  }

  private func inspectOrder(_ item: Item) {
    guard let producer = Int(exactly: item.producer), next.indices.contains(producer) else {
      orderViolations += 1
      return
    }
    if item.value != next[producer] { orderViolations += 1 }
    next[producer] = item.value &+ 1
  }
}
