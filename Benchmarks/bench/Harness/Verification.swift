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
/// An age is only stored, in memory that was touched before. A histogram of 59 KB would evict what the subject has in the cache, and
/// a reactor would wait for the inspector: so it is made afterwards.
///
/// `@unchecked Sendable`: used only by `Tally.reduce`, which one thread at a time runs (that is what is being measured),
/// and by the harness after the subject has returned its totals.
final class Inspector: @unchecked Sendable {
  private var next: [UInt64]
  /// In ticks; room for none if the order is inspected.
  private let ages: UnsafeMutableBufferPointer<UInt64>
  private var ageCount = 0
  private var latestDue: UInt64 = 0
  private(set) var orderViolations = 0

  /// Expects each producer's values to be 0, 1, 2, …
  static func order(producers: Int) -> Inspector {
    Inspector(producers: producers, ages: 0)
  }

  /// Takes each value as the tick at which the item was due.
  ///
  /// - Parameter count: How many items are sent at most.
  static func latency(count: Int) -> Inspector {
    Inspector(producers: 0, ages: count)
  }

  private init(producers: Int, ages count: Int) {
    next = Array(repeating: 0, count: producers)
    ages = .allocate(capacity: count)
    ages.initialize(repeating: 0)
  }

  deinit { ages.deallocate() }

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
    if ages.isEmpty { inspectOrder(item) } else { storeAge(of: item) }
  }

  @inline(__always)
  private func storeAge(of item: Item) {
    let now = bl_ticks()
    // More than were sent is a defect that `Verification` reports.
    if ageCount < ages.count { ages[ageCount] = now &- item.value }
    ageCount &+= 1
    if item.value <= latestDue { orderViolations &+= 1 }
    latestDue = item.value
  }

  /// The latencies in nanoseconds of the items that were reduced, and the ages of those that were never sent, so that they are not
  /// missing among the latest.
  func latencies(and unsent: UnsentItems?, nanosecondsPerTick: Double) -> Histogram {
    var latencies = Histogram()
    func record(_ age: UInt64) { latencies.record(UInt64(Double(age) * nanosecondsPerTick)) }
    // The counters of two cores may differ by a few ticks, so an age may be negative.
    for age in ages.prefix(ageCount) { record(Int64(bitPattern: age) < 0 ? 0 : age) }
    unsent?.ages.forEach(record)
    return latencies
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
