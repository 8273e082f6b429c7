import Dispatch
import ReactorCore

/// Calls a closure at a deadline, unless it is cancelled before: for what waits, and then gives up, and for the timers of streams.
///
/// Nearly every request has a deadline, and nearly none reaches it. A timer of Dispatch for each would take longer than the request: its
/// source is made, armed and cancelled, each on another thread. So all deadlines are in a few timer wheels, and each wheel
/// has one timer, for the earliest tick at which it must be checked. A deadline that is cancelled leaves that timer as it is: when it
/// fires for nothing, it is set for what is left. The timers fire on a queue of their own, and nothing else runs there: so a deadline on the
/// main queue, or on a serial one, needs no thread of those that all jobs share.
final class Deadline: @unchecked Sendable {
  // Unchecked: `onPassed` is protected by the mutex of the shard.

  /// Nil once the deadline is over: what it captures usually refers to this object.
  fileprivate var onPassed: (@Sendable () -> Void)?
  /// Where the closure is called; nil for any thread of Dispatch.
  fileprivate let queue: DispatchQueue?
  private let shard: SystemMutex<DeadlineShard>

  /// Sets a deadline whose closure is called on any thread of Dispatch. Any thread; O(1), amortized.
  ///
  /// - Parameters:
  ///   - instant: When the closure is called: not earlier, and at most one tick (65 µs) later if a thread of Dispatch is free, plus the
  ///     time to wake it.
  ///   - onPassed: Called once at most, perhaps before this returns. Released then, or when the deadline is cancelled.
  convenience init(at instant: ContinuousClock.Instant, _ onPassed: @escaping @Sendable () -> Void) {
    self.init(MonotonicTime.presentAndTime(at: instant), nil, DeadlineShard.ofThread, onPassed)
  }

  /// The same, after a delay.
  convenience init(after delay: Duration, _ onPassed: @escaping @Sendable () -> Void) {
    self.init(MonotonicTime.presentAndTime(after: delay), nil, DeadlineShard.ofThread, onPassed)
  }

  /// Sets a deadline whose closure is called on a queue, when it has time. If that is serial, all that were set with the same object are
  /// called in the order of their ticks, and of setting if the tick is the same.
  convenience init(
    after delay: Duration, on queue: DispatchQueue, _ onPassed: @escaping @Sendable () -> Void
  ) {
    self.init(MonotonicTime.presentAndTime(after: delay), queue, DeadlineShard.of(queue), onPassed)
  }

  private init(
    _ time: (now: Int64, due: Int64), _ queue: DispatchQueue?, _ shard: SystemMutex<DeadlineShard>,
    _ onPassed: @escaping @Sendable () -> Void
  ) {
    (self.onPassed, self.queue, self.shard) = (onPassed, queue, shard)
    shard.withLock { $0.add(self, due: time.due, now: time.now, in: shard) }
  }

  /// Ends the deadline, unless the closure was called. Any thread; O(1).
  func cancel() {
    // Released after the mutex: what the closure captures may run any code when it goes away.
    let released = shard.withLock { $0.remove(self) }
    withExtendedLifetime(released) {}
  }

  /// Calls the closure, unless the deadline was cancelled since it has passed.
  fileprivate func call() {
    let onPassed = shard.withLock { $0.remove(self) }
    onPassed?()
  }
}

extension Deadline: Hashable {
  static func == (one: Deadline, other: Deadline) -> Bool { one === other }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Quicker than the usual hash, which makes collisions hard to choose: nobody chooses addresses.
  func _rawHashValue(seed: Int) -> Int { spread(UInt64(UInt(bitPattern: ObjectIdentifier(self)))) }
}

/// Fibonacci hashing: the lower bits of addresses are alike, those of this are not.
private func spread(_ address: UInt64) -> Int { Int((address &* 0x9E37_79B9_7F4A_7C15) >> 32) }

/// Some of the deadlines, and the timer for them.
private struct DeadlineShard: Sendable {
  private typealias Passed = [@Sendable () -> Void]

  private var wheel = TimerWheel<Deadline>()
  /// The tick at which the timer fires; `max` if there is none.
  private var timerTick = UInt64.max
  private var timer: DispatchTimer?

  /// The length of a tick is two to the power of this, in nanoseconds: 65 µs.
  private static var tickBits: UInt64 { 16 }

  /// As many as there are processors, rounded up to a power of two, so that threads seldom meet; 16 at most.
  private static let all: [SystemMutex<DeadlineShard>] = {
    var count = 1
    while count < min(DedicatedThread.processorCount, 16) { count *= 2 }
    return (0..<count).map { _ in SystemMutex(DeadlineShard()) }
  }()

  /// Where the timers fire.
  private static let queue = DispatchQueue(label: "reactor-deadlines")

  /// The shard to which the calling thread adds what is called on any thread.
  static var ofThread: SystemMutex<DeadlineShard> {
    all[spread(CurrentCore.threadToken) & (all.count - 1)]
  }

  /// The shard of an object that stands for a queue: only one, so that its deadlines keep their order.
  static func of(_ queue: DispatchQueue) -> SystemMutex<DeadlineShard> {
    all[spread(UInt64(UInt(bitPattern: ObjectIdentifier(queue)))) & (all.count - 1)]
  }

  /// Adds a deadline.
  ///
  /// - Parameters:
  ///   - due: Its ``MonotonicTime``.
  ///   - now: That of the present.
  ///   - shard: The mutex of this shard.
  mutating func add(_ deadline: Deadline, due: Int64, now: Int64, in shard: SystemMutex<DeadlineShard>) {
    let tick = 1 << Self.tickBits as UInt64
    // Rounded up, so that it is never early.
    let check = wheel.set(deadline, due: (UInt64(due) + tick - 1) / tick, now: UInt64(now) / tick)
    if check < timerTick { setTimer(for: check, in: shard) }
  }

  /// Removes a deadline, and returns what it would have called; nil if it is over.
  mutating func remove(_ deadline: Deadline) -> (@Sendable () -> Void)? {
    _ = wheel.cancel(deadline)
    return deadline.onPassed.take()
  }

  private mutating func setTimer(for tick: UInt64, in shard: SystemMutex<DeadlineShard>) {
    timer?.cancel()
    timerTick = tick
    // Not as a delay: this thread may have waited since it read the clock. Later times than this one, in centuries, are those of another
    // clock to Dispatch.
    let time = DispatchTime(uptimeNanoseconds: min(tick << Self.tickBits, 1 << 61))
    timer = DispatchTimer(on: Self.queue, at: time) { Self.callPassed(in: shard) }
  }

  /// Removes some of the deadlines that have passed, so that no thread waits long for the mutex; or else sets the timer for the others.
  /// Leaves to their queues those that have one, and returns the closures of the others.
  private mutating func removePassed(in shard: SystemMutex<DeadlineShard>) -> (Passed, mayBeMore: Bool) {
    let now = UInt64(MonotonicTime.now) >> Self.tickBits
    var passed: Passed = []
    var count = 0
    while let deadline = wheel.removeFirst(dueBy: now) {
      if let queue = deadline.queue {
        // Here, where no other thread comes in between with later ones. The queue runs nothing inside of this call.
        queue.async(execute: deadline.call)
      } else if let onPassed = deadline.onPassed.take() {
        passed.append(onPassed)
      }
      count += 1
      // The time of the timer stays: nobody sets another one meanwhile.
      if count == 256 { return (passed, true) }
    }
    timer?.cancel()
    (timer, timerTick) = (nil, .max)
    if let check = wheel.nextCheck { setTimer(for: check, in: shard) }
    return (passed, false)
  }

  /// What the timer does.
  private static func callPassed(in shard: SystemMutex<DeadlineShard>) {
    var mayBeMore = true
    while mayBeMore {
      let passed: Passed
      (passed, mayBeMore) = shard.withLock { $0.removePassed(in: shard) }
      // Each is a job of its own: code of users that blocks must not keep others waiting.
      for onPassed in passed { DispatchQueue.global().async(execute: onPassed) }
    }
  }
}
