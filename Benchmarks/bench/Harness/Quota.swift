import CBenchmarkLimits
import Dispatch
import Glibc
import Synchronization

/// How much one repetition sends, and when it must be over.
///
/// Producers that run far beyond the time that was planned stop early and lower the total, so that a
/// baseline which collapses under contention costs seconds and not minutes.
final class Quota: Sendable {
  /// A repetition that is not over by then has lost items.
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

  /// Time runs from here. Returns the time.
  func start() -> UInt64 {
    let now = bl_now_ns()
    sendUntil.store(now + timeLimit, ordering: .relaxed)
    return now
  }

  private var deadline: UInt64 { sendUntil.load(ordering: .relaxed) + Self.patience }

  /// Items to reduce in all. Falls when producers give up early.
  var total: Int { expected.load(ordering: .relaxed) }

  /// What the producers have sent, once they are done.
  var sent: Totals {
    Totals(count: sentCount.load(ordering: .acquiring), sum: sentSum.load(ordering: .acquiring))
  }

  /// Throws when the repetition hangs. For loops that poll, between polls that found nothing.
  func checkDeadline(reduced count: @autoclosure () -> Int) throws {
    guard bl_now_ns() < deadline else {
      throw Stalled("only \(count()) of \(total) items arrived before the deadline")
    }
  }

  /// Sleeps until all producers have sent all.
  func awaitProducers() throws {
    let now = bl_now_ns()
    let left = deadline > now ? deadline - now : 0
    guard allSent.wait(timeout: .now() + .nanoseconds(Int(left))) == .success else {
      throw Stalled("producers did not finish before the deadline")
    }
  }

  // MARK: Producers

  /// Calls `send` with one chunk of values after the other. On each producer's thread, once.
  @inline(__always)
  func produce(chunk: Int, _ send: (Range<UInt64>) -> Void) {
    var next = 0
    let until = sendUntil.load(ordering: .relaxed)
    while next < perProducer, bl_now_ns() < until {
      let end = min(next + chunk, perProducer)
      send(UInt64(next)..<UInt64(end))
      next = end
    }
    let count = UInt64(next)
    finish(Totals(count: next, sum: count == 0 ? 0 : count * (count - 1) / 2))
  }

  /// The caller's share was sent. `produce` does this itself.
  func finish(_ totals: Totals) {
    expected.subtract(perProducer - totals.count, ordering: .relaxed)
    sentCount.add(totals.count, ordering: .relaxed)
    sentSum.wrappingAdd(totals.sum, ordering: .relaxed)
    if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { allSent.signal() }
  }
}

extension Quota {
  /// Reduces on the calling thread: calls `drain`, which reduces what is ready and says whether there was
  /// anything, until all items are in.
  ///
  /// Finding nothing, it looks again at once for a while, then yields: with more threads than cores the
  /// producer that it waits for may not be running.
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

/// Waiting for another thread without a lock: a few looks in a row, some with a pause, then yields.
struct IdleWait {
  private static let looks = 64
  private static let pauses = 256
  private var rounds = 0

  @inline(__always)
  mutating func reset() {
    rounds = 0
  }

  /// Returns true when it has yielded, which is the time for dear checks.
  @inline(__always)
  mutating func wait() -> Bool {
    rounds &+= 1
    if rounds <= Self.looks { return false }
    if rounds <= Self.looks + Self.pauses {
      bl_pause()
      return false
    }
    sched_yield()
    return true
  }
}

/// What a producer does that finds a ring full: gives its core away at once. Whoever could make room may be
/// waiting for that core, and a full ring is long enough not to run empty meanwhile.
enum FullWait {
  @inline(__always)
  static func yield() { sched_yield() }
}
