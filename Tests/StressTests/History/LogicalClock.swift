import Synchronization

/// A clock that only counts: sequentially consistent, so its numbers agree with what really came first.
///
/// Reading it synchronises the threads with each other, which can hide a missing happens-before edge from
/// ThreadSanitizer and a reordering from everybody. So whatever runs with it must also run without.
final class LogicalClock: Sendable {
  private let time = Atomic<UInt64>(0)

  func now() -> UInt64 { time.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }
}
