import ReactorCore
import Synchronization

/// What a reactor needs when its mailbox is full: a place where senders wait, and a place for what is kept beside the
/// ring.
@usableFromInline
final class Overflow<Action: Sendable>: Sendable {
  /// Senders that wait until there is room.
  @usableFromInline let waiters: RoomWaiters
  /// What is kept beside the ring.
  @usableFromInline let spilled = Spilled<Action>()
  /// How many actions the policy has dropped. Relaxed: a statistic.
  let dropped = Atomic(0)

  @usableFromInline
  init() throws(CoreError) { waiters = try RoomWaiters() }
}
