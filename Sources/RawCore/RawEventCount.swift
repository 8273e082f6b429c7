/// What an event count wakes.
public enum EventCountKind: Sendable {
  /// Threads that sleep in `wait`: on a futex (the pure-Swift core: on a condition variable).
  case futex
  /// Those, and a descriptor that becomes readable, for a loop that also watches other descriptors.
  case descriptor
}

/// Sleeping until a condition that others make true without a lock; the protocol stands in
/// `rr_eventcount.h`.
public protocol RawEventCount: RawObject {
  init(_ kind: EventCountKind) throws(CoreError)

  // Any thread.
  func prepare() -> UInt32
  func wait(_ key: UInt32, timeoutNanoseconds: Int64) -> Bool
  /// Whether ``wait(_:timeoutNanoseconds:)`` would sleep: for who sleeps elsewhere.
  func maySleep(_ key: UInt32) -> Bool
  func notify()
  var mustNotify: Bool { get }
  var wasArmed: Bool { get }
  /// How many notifications found somebody armed, modulo 2^31.
  var wakes: UInt32 { get }
  /// -1 without one.
  var descriptor: Int32 { get }
  func acknowledge()
}
