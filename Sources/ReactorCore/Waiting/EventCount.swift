/// Sleeping until a condition that others make true without a lock: as cheap for them as one load while
/// nobody sleeps.
///
/// Any number of threads may sleep and notify. The protocol and its argument stand in `rr_eventcount.h`.
public struct EventCount: ~Copyable {
  @usableFromInline let raw: CurrentCore.EventCount

  /// - Throws: ``CoreError/outOfMemory``, or ``CoreError/noDescriptor``.
  @inlinable
  public init(_ kind: EventCountKind = .futex) throws(CoreError) {
    raw = try CurrentCore.EventCount(kind)
  }

  deinit { raw.destroy() }

  /// Wakes everybody who sleeps. Call it after making the condition true. Any thread.
  @inlinable
  public func notify() { raw.notify() }

  /// As ``notify()``, but only if somebody sleeps and `isWorthIt` then answers true; if it answers false, the
  /// caller must notify later. Any thread.
  @inlinable
  public func notify(if isWorthIt: () -> Bool) {
    if raw.mustNotify, isWorthIt() { raw.notify() }
  }

  /// Sleeps until `condition` holds, or `timeout` nanoseconds have passed; answers whether it holds.
  /// Any thread.
  ///
  /// The condition is looked at before sleeping, so it must be cheap; each sleep costs about 10 µs, and
  /// 10 more for who wakes.
  @inlinable
  public func wait(timeoutNanoseconds timeout: Int64? = nil, until condition: () -> Bool) -> Bool {
    let deadline = timeout.map { ContinuousClock.now + .nanoseconds($0) }
    while !condition() {
      let key = raw.prepare()
      if condition() { break }
      guard let deadline else {
        _ = raw.wait(key, timeoutNanoseconds: -1)
        continue
      }
      let left = ContinuousClock.now.duration(to: deadline)
      if left <= .zero { return false }
      _ = raw.wait(key, timeoutNanoseconds: Int64(clamping: left.attoseconds / 1_000_000_000 + 1))
    }
    return true
  }

  /// Whether somebody sleeps or is about to; may be stale at once. Any thread.
  @inlinable
  public var wasArmed: Bool { raw.wasArmed }

  /// How many notifications found somebody asleep or about to be, and so cost system calls; modulo 2^31. Any
  /// thread.
  public var wakes: UInt32 { raw.wakes }

  /// The descriptor of the kind ``EventCountKind/descriptor``, else nil; readable once notified.
  ///
  /// A foreign loop, one at a time, calls ``arm(unless:)``, watches the descriptor, and calls
  /// ``acknowledge()`` when it wakes.
  public var descriptor: Int32? { raw.descriptor < 0 ? nil : raw.descriptor }

  /// Makes the next ``notify()`` wake the descriptor, unless `condition` already holds: then it answers
  /// false, and the caller must not wait. So it does if somebody has notified meanwhile, or if the system
  /// refuses what ``notify()`` relies on. Any thread.
  public func arm(unless condition: () -> Bool) -> Bool {
    let key = raw.prepare()
    return !condition() && raw.maySleep(key)
  }

  /// Empties the descriptor. The foreign loop, when it wakes.
  public func acknowledge() { raw.acknowledge() }
}

extension EventCount: Sendable {}

/// How long a consumer that caught up waits before it looks again. Belongs to one consumer.
///
/// A consumer on the producers' heels takes every cache line from them right after they took it back for the
/// next store, and each such transfer costs a core-to-core round trip. Waiting a little lets whole lines
/// fill: it made one ring three times as fast. The wait adapts: it doubles while the drains after it find
/// bursts, up to about 3 µs, and halves while they find a trickle, down to nothing. So a loaded ring is
/// emptied in bursts, and a quiet one costs no latency.
///
/// Not for a consumer whose latency matters more than its throughput.
public struct Pacer: Sendable {
  /// The wait never exceeds this, about 3 µs.
  public static var longest: Int { 128 }

  @usableFromInline var pauses = 0

  /// Waits for nothing until it has seen a burst.
  @inlinable
  public init() {}

  /// Waits. To be called after a drain that received `received` elements, more than none, and stopped at
  /// a slot that was not ready.
  @inlinable
  public mutating func wait(afterReceiving received: Int) {
    wait(afterReceiving: received, on: CurrentCore.self)
  }

  /// As ``wait(afterReceiving:)``, with the pauses of a given core.
  @inlinable
  public mutating func wait<C: Core>(afterReceiving received: Int, on _: C.Type) {
    if received >= 16 {
      pauses = min(pauses * 2 + 8, Self.longest)
    } else if received <= 4 {
      pauses /= 2
    }
    C.pause(times: pauses)
  }
}
