import BenchmarkSupport
import CBenchmarkLimits

/// The state that every subject reduces into, and all the work of an action: `count += 1; sum += value`.
///
/// Both totals are compared with what was sent, so no optimiser can remove the work. Passes that check the order of items
/// or record latencies attach an inspector. Without one, the code is the same except for a branch on nil.
struct Tally: Sendable {
  private(set) var count = 0
  private(set) var sum: UInt64 = 0
  private let inspector: Unmanaged<Inspector>?

  /// The inspector is not retained, so that copying a tally costs nothing. The measurement keeps it alive.
  init(inspector: Inspector?) {
    self.inspector = inspector.map(Unmanaged.passUnretained)
  }

  @inline(__always)
  mutating func reduce(_ item: Item) {
    if let inspector { inspector._withUnsafeGuaranteedRef { $0.inspect(item) } }
    count &+= 1
    sum &+= item.value
  }

  var totals: Totals { Totals(count: count, sum: sum) }
}

/// All that a subject has reduced, or that producers have sent.
struct Totals: Equatable, Sendable {
  var count: Int
  var sum: UInt64
}

/// Inspects each item when it is reduced: either its place among those of its producer, or its age.
///
/// `@unchecked Sendable`: used only by `Tally.reduce`, which one thread at a time runs (that is what is being measured),
/// and by the harness after the subject has returned its totals.
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

  /// Takes each value as the tick at which the item was due.
  static func latency(nanosecondsPerTick: Double) -> Inspector {
    Inspector(.latency(nanosecondsPerTick: nanosecondsPerTick), producers: 0)
  }

  private init(_ duty: Duty, producers: Int) {
    self.duty = duty
    next = Array(repeating: 0, count: producers)
  }

  /// Runs `body`, which returns when everything is reduced. If it throws, because a subject stalls, the threads and tasks of the
  /// subject go on, and do not retain the inspector: then it stays for good.
  static func whileReducing<Result>(_ inspector: Inspector?, _ body: () throws -> Result) rethrows -> Result {
    do {
      return try body()
    } catch {
      if let inspector { _ = Unmanaged.passRetained(inspector) }
      throw error
    }
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

  /// Records items that were never sent, so that they are not missing among the latest. After all others were inspected.
  func record(_ items: UnsentItems) {
    guard case .latency(let nanosecondsPerTick) = duty else { return }
    for age in items.ages { latencies.record(UInt64(Double(age) * nanosecondsPerTick)) }
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

/// Compares what was reduced with what was sent.
enum Verification {
  static func check(_ totals: Totals, _ sent: Totals, _ inspector: Inspector?) throws {
    guard totals.count == sent.count else {
      throw SubjectFailure("reduced \(totals.count) items of \(sent.count)")
    }
    guard totals.sum == sent.sum else {
      throw SubjectFailure("the items' sum is \(totals.sum) instead of \(sent.sum)")
    }
    // This use also keeps the inspector alive until here, since the tallies do not retain it.
    if let violations = inspector?.orderViolations, violations > 0 {
      throw SubjectFailure("\(violations) of \(sent.count) items were not in their producer's order")
    }
  }
}
