import CBenchmarkLimits
import ReactorCore

/// Limits that C functions measure.
extension Variant {
  static let spsc = Variant.subject("limit", SPSCLimit.self)

  static let fetchAdd = Variant.limit { count, _ in bl_fetch_add_ns(count) }

  static let futexWake = Variant.limit { count, _ in bl_futex_wake_ns(count) }

  static let fetchAddContended = Variant.limit { count, cpus in
    guard cpus.count >= 2 else { return nil }
    return bl_fetch_add_contended_ns(cpus[0], cpus[1], count)
  }

  static let roundTrip = Variant.limit { count, cpus in
    let batches = 20
    let trip = CPUSet(cpus: cpus).roundTrip(batches: batches, batchSize: max(1, Int(count) / batches))
    return trip.map { $0 * Double(count) }
  }

  /// - Parameter run: Does it `count` times and returns the nanoseconds; nil or a negative number if it cannot.
  private static func limit(
    _ run: @escaping @Sendable (_ count: UInt64, _ cpus: [Int32]) -> Double?
  ) -> Variant {
    Variant(name: "limit", hasOrder: false) { _, request, instruments in
      guard let nanoseconds = run(UInt64(request.count), instruments.cpus.cpus), nanoseconds > 0 else {
        throw SubjectFailure("could not be measured here")
      }
      return Measurement(nanoseconds: nanoseconds, actions: request.count)
    }
  }
}

/// The textbook single-producer ring, which publishes every item: what handing an item to another core costs. The consumer takes what
/// is there and paces itself, as ours does. One that does not is sometimes close behind the producer, where each item moves a cache
/// line, and sometimes far behind it: then the same ring takes three times as long in one run as in the next.
///
/// `@unchecked Sendable`: one producer pushes, and only `awaitTotals` pops.
final class SPSCLimit: FanInSubject, @unchecked Sendable {
  private let queue: OpaquePointer
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    guard let queue = bl_spsc_create(setup.capacity) else { throw SubjectFailure("out of memory") }
    self.queue = queue
    inspector = setup.inspector
  }

  deinit {
    bl_spsc_destroy(queue)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    var idle = IdleWait()
    for value in values {
      while !bl_spsc_push(queue, bl_item(producer: UInt64(producer), value: value)) { _ = idle.wait() }
      idle.reset()
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    var tally = Tally(inspector: inspector)
    var pacer = Pacer()
    return try quota.poll(into: &tally) { tally in
      var item = bl_item()
      var received = 0
      while bl_spsc_pop(queue, &item) {
        tally.reduce(Item(producer: item.producer, value: item.value))
        received += 1
      }
      if received > 0 { pacer.wait(afterReceiving: received) }
      return received > 0
    }
  }
}

/// A thread that sleeps on a bare futex and is woken for each item: what a wake costs. The part `sleeps` of its results
/// shows whether it slept before each item.
///
/// `@unchecked Sendable`: one producer sends, and only `awaitTotals` receives.
final class SleeperLimit: FanInSubject, @unchecked Sendable {
  private let sleeper: OpaquePointer
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    guard let sleeper = bl_sleeper_create() else { throw SubjectFailure("out of memory") }
    self.sleeper = sleeper
    inspector = setup.inspector
  }

  deinit {
    bl_sleeper_destroy(sleeper)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    var idle = IdleWait()
    for value in values {
      while !bl_sleeper_send(sleeper, bl_item(producer: UInt64(producer), value: value)) { _ = idle.wait() }
      idle.reset()
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    var tally = Tally(inspector: inspector)
    var item = bl_item()
    while tally.count < quota.total {
      if bl_sleeper_receive(sleeper, &item) {
        tally.reduce(Item(producer: item.producer, value: item.value))
      } else {
        try quota.checkDeadline(reduced: tally.count)
      }
    }
    return tally.totals
  }
}
