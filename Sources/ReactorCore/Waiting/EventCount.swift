/// Lets threads sleep until a condition is true that other threads make true without a lock. While no thread sleeps, a
/// notification costs about as much as a load.
///
/// Any number of threads may sleep and notify. The protocol and its argument are documented in `rr_eventcount.h`.
public struct EventCount: ~Copyable {
  @usableFromInline let raw: CurrentCore.EventCount

  /// Creates an event count on which no thread sleeps.
  ///
  /// - Throws: ``CoreError/outOfMemory``, or ``CoreError/noDescriptor``.
  @inlinable
  public init(_ kind: EventCountKind = .futex) throws(CoreError) {
    raw = try CurrentCore.EventCount(kind)
  }

  deinit { raw.destroy() }

  /// Wakes all threads that sleep. Call it after making the condition true. Any thread.
  @inlinable
  public func notify() { raw.notify() }

  /// Whether a thread sleeps, or is about to, that may not have seen what the caller wrote before. A caller that does not
  /// notify now must do so later. Any thread.
  @inlinable
  public var mustNotify: Bool { raw.mustNotify }

  /// The same as ``notify()``, and then calls `wakeElsewhere` if a thread was found asleep or about to sleep: for threads
  /// that arm the event count and sleep on something else. In this order: a thread that were woken first could arm it
  /// again, and the notification would take that away unnoticed.
  @inlinable
  public func notifyAndCall(_ wakeElsewhere: () -> Void) {
    if !raw.mustNotify { return }
    raw.notify()
    wakeElsewhere()
  }

  /// Sleeps until `condition` returns true or `timeout` nanoseconds have passed, and returns whether the condition holds.
  /// Any thread.
  ///
  /// The condition is checked before each sleep, twice, so it must be cheap. A sleep costs the sleeping thread about 10 µs,
  /// and the thread that wakes it 10 µs more.
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

  /// How many notifications found a thread asleep or about to sleep, and so made system calls; modulo 2^31. Any thread.
  public var wakes: UInt32 { raw.wakes }

  /// The descriptor of the kind ``EventCountKind/descriptor``, which a notification makes readable; nil for the other kind.
  ///
  /// A foreign loop, one at a time, calls ``arm(unless:)``, watches the descriptor, and calls ``acknowledge()`` when it
  /// wakes.
  public var descriptor: Int32? { raw.descriptor < 0 ? nil : raw.descriptor }

  /// Lets the next ``notify()`` make the descriptor readable, unless `condition` already returns true. Any thread.
  ///
  /// - Returns: Whether the caller may wait for the descriptor. False if the condition holds, if another thread has
  ///   notified meanwhile, or if the system refuses the fence that ``notify()`` relies on.
  public func arm(unless condition: () -> Bool) -> Bool {
    var key: UInt32 = 0
    return arm(again: &key, unless: condition)
  }

  /// Like ``arm(unless:)``, for a thread that does this again and again, and is mostly woken by something else. Then it costs a
  /// load instead of about 9 µs, as long as nobody notifies. Any thread; those with the same `key`, one after the other.
  ///
  /// - Parameters:
  ///   - key: What the last call has left here; 0 before the first one.
  ///   - condition: Returns whether there is something to do; called once, after arming.
  /// - Returns: As ``arm(unless:)``.
  public func arm(again key: inout UInt32, unless condition: () -> Bool) -> Bool {
    key = raw.prepare(again: key)
    return !condition() && raw.maySleep(key)
  }

  /// Makes the descriptor unreadable again. Called by the foreign loop when it wakes.
  public func acknowledge() { raw.acknowledge() }
}

extension EventCount: Sendable {}
