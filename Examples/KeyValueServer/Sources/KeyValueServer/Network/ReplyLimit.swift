import Synchronization

/// How many bytes of replies a client may have at once: those that wait for it, and those of its batch, in all shards together.
///
/// A batch of short commands can ask a thousand times for a large value. Past the limit its replies are dropped as they are made,
/// its commands are still run, and its connection is closed.
final class ReplyLimit: Sendable {
  private let limit: Int
  private let made = Atomic(0)

  /// - Parameter limit: In bytes; 0 is none.
  init(_ limit: Int) { self.limit = limit == 0 ? .max : limit }

  /// Begins a batch. The connection, while no shard runs a part of one.
  func begin(behind waiting: Int) { made.store(waiting, ordering: .relaxed) }

  /// Whether more was counted than there may be. Relaxed: a shard that sees it late makes one more reply. The connection sees all
  /// of it, because it gets each work by a hand-over.
  var isExceeded: Bool { made.load(ordering: .relaxed) > limit }

  /// Counts what these replies have beyond their first `counted` bytes. Less than `step` is left for later, because all shards
  /// share one counter. Empties them if the limit is exceeded. Any thread.
  @inline(__always)
  func count(_ replies: inout [UInt8], since counted: inout Int, step: Int = 64 << 10) {
    if replies.count - counted < step { return }
    made.add(replies.count - counted, ordering: .relaxed)
    if isExceeded { replies = [] }
    counted = replies.count
  }
}
