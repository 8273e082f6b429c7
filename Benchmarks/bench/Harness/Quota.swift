import CBenchmarkLimits
import Dispatch
import Glibc
import Synchronization

/// How much one repetition sends, and when it must be over.
///
/// Producers that need far more than the planned time stop early and lower the total, so that a baseline that collapses
/// under contention takes seconds and not minutes.
final class Quota: Sendable {
  /// Nanoseconds after the time limit. A repetition that takes longer has lost items.
  private static let patience: UInt64 = 20_000_000_000

  /// The largest number of items that a case sends at once; chunks are multiples of it as well.
  private static let batch = 16

  private let expected: Atomic<Int>
  private let sentCount = Atomic<Int>(0)
  private let sentSum = Atomic<UInt64>(0)
  private let running: Atomic<Int>
  private let allSent = DispatchSemaphore(value: 0)
  private let perProducer: Int
  private let timeLimit: UInt64
  private let sendUntil = Atomic<UInt64>(.max)
  private let unsentItems = Mutex<UnsentItems?>(nil)
  let producers: Int

  /// - Parameters:
  ///   - total: items over all producers, rounded up so that all send the same number of whole batches.
  ///   - timeLimit: nanoseconds after which producers stop early.
  init(total: Int, producers: Int, timeLimit: UInt64) {
    let share = (total + producers - 1) / producers
    perProducer = max(1, (share + Self.batch - 1) / Self.batch) * Self.batch
    expected = Atomic(perProducer * producers)
    running = Atomic(producers)
    self.producers = producers
    self.timeLimit = timeLimit
  }

  /// Starts the clock. Returns the time.
  func start() -> UInt64 {
    let now = bl_now_ns()
    sendUntil.store(now + timeLimit, ordering: .relaxed)
    return now
  }

  /// False from when producers must stop early.
  var hasTimeLeft: Bool { bl_now_ns() < sendUntil.load(ordering: .relaxed) }

  private var deadline: UInt64 { sendUntil.load(ordering: .relaxed) + Self.patience }

  /// The number of items to reduce. Becomes smaller when producers stop early.
  var total: Int { expected.load(ordering: .relaxed) }

  /// What the producers have sent, after all are done.
  var sent: Totals {
    Totals(count: sentCount.load(ordering: .acquiring), sum: sentSum.load(ordering: .acquiring))
  }

  /// Throws if the repetition hangs. Called by loops that poll, between polls that found nothing.
  func checkDeadline(reduced count: @autoclosure () -> Int) throws {
    guard bl_now_ns() < deadline else {
      throw Stalled("only \(count()) of \(total) items arrived before the deadline")
    }
  }

  /// Sleeps until all producers are done.
  func awaitProducers() throws {
    let now = bl_now_ns()
    let left = deadline > now ? deadline - now : 0
    guard allSent.wait(timeout: .now() + .nanoseconds(Int(left))) == .success else {
      throw Stalled("producers did not finish before the deadline")
    }
  }

  /// What the only producer of a schedule has not sent, if it gave up.
  var unsent: UnsentItems? { unsentItems.withLock { $0 } }

  // MARK: Producers

  /// Tells that the only producer gives up.
  func note(_ items: UnsentItems) { unsentItems.withLock { $0 = items } }

  /// Calls `send` with one chunk of values after the other. Called once on the thread of each producer.
  @inline(__always)
  func produce(chunk: Int, _ send: (Range<UInt64>) -> Void) {
    var next = 0
    while next < perProducer, hasTimeLeft {
      let end = min(next + chunk, perProducer)
      send(UInt64(next)..<UInt64(end))
      next = end
    }
    let count = UInt64(next)
    finish(Totals(count: next, sum: count == 0 ? 0 : count * (count - 1) / 2))
  }

  /// Tells that the caller has sent its share. `produce` calls it itself.
  func finish(_ totals: Totals) {
    expected.subtract(perProducer - totals.count, ordering: .relaxed)
    sentCount.add(totals.count, ordering: .relaxed)
    sentSum.wrappingAdd(totals.sum, ordering: .relaxed)
    if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { allSent.signal() }
  }
}

extension Quota {
  /// Reduces on the calling thread until all items are reduced. `drain` reduces what is ready, and returns whether there
  /// was anything.
  ///
  /// After a drain that found nothing it polls for a while, then yields: with more threads than cores, the producer that
  /// it waits for may not be running.
  @inline(__always)
  func poll(into tally: inout Tally, _ drain: (inout Tally) -> Bool) throws -> Totals {
    var idle = IdleWait()
    while tally.count < total {
      if drain(&tally) {
        idle.reset()
      } else if idle.wait() {
        try checkDeadline(reduced: tally.count)
      }
    }
    return tally.totals
  }
}

/// Waits for another thread without a lock: first polls, then polls with pauses, then yields its core.
struct IdleWait {
  private static let polls = 64
  private static let pauses = 256
  private var rounds = 0

  @inline(__always)
  mutating func reset() {
    rounds = 0
  }

  /// Returns true if it has yielded: then there is time for expensive checks.
  @inline(__always)
  mutating func wait() -> Bool {
    rounds &+= 1
    if rounds <= Self.polls { return false }
    if rounds <= Self.polls + Self.pauses {
      bl_pause()
      return false
    }
    sched_yield()
    return true
  }
}

/// What a producer does if a ring is full: it yields its core at once. The consumer may be waiting for that core, and will
/// not have emptied a full ring before the producer is back.
enum FullWait {
  @inline(__always)
  static func yield() { sched_yield() }
}
