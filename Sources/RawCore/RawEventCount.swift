/// What an event count wakes.
public enum EventCountKind: Sendable {
  /// Threads that sleep in `wait`: on a futex, or on a condition variable in the pure-Swift core.
  case futex
  /// The same threads, and a descriptor that becomes readable. For a loop that also watches other descriptors.
  case descriptor
}

/// Lets threads sleep until a condition is true that other threads make true without a lock. The protocol is
/// documented in `rr_eventcount.h`.
public protocol RawEventCount: RawObject {
  /// Creates an event count that no thread has armed.
  init(_ kind: EventCountKind) throws(CoreError)

  // MARK: Any thread

  /// Arms the event count. The caller checks its condition afterwards, and passes the key to
  /// ``wait(_:timeoutNanoseconds:)``.
  func prepare() -> UInt32
  /// The same for a thread that has armed it before, and got `key`; 0 at first. Costs a load if nobody has notified since.
  func prepare(again key: UInt32) -> UInt32
  /// Sleeps until a notification that follows the ``prepare()`` that returned `key`, or until the timeout (negative:
  /// without limit). Returns false if the time ran out. May wake for no reason: after a moment, if the kernel has refused the
  /// fence of that ``prepare()``, so that a notification may have missed the thread.
  func wait(_ key: UInt32, timeoutNanoseconds: Int64) -> Bool
  /// Whether ``wait(_:timeoutNanoseconds:)`` would sleep for longer than a moment. For a caller that sleeps on the ``descriptor``
  /// instead.
  func maySleep(_ key: UInt32) -> Bool
  /// Wakes all sleepers, if the event count is armed. The caller has made the condition true before.
  func notify()
  /// Whether ``notify()`` would find the event count armed; with the same fence.
  var mustNotify: Bool { get }
  /// The number of notifications that found the event count armed, modulo 2^31.
  var wakes: UInt32 { get }
  /// The descriptor of the kind ``EventCountKind/descriptor``; -1 for the other kind.
  var descriptor: Int32 { get }
  /// Makes the descriptor unreadable again. One thread at a time.
  func acknowledge()
}
