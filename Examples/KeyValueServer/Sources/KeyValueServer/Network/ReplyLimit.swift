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

  /// Whether more was counted than there may be. Relaxed: a shard that sees it late makes a reply more, and the connection gets
  /// each work through a hand-over, behind what the shard has counted.
  var isExceeded: Bool { made.load(ordering: .relaxed) > limit }

  /// Counts what was appended to these replies since they had `counted` bytes, if it is as much as `step`, since all shards count
  /// in one place. Empties them if the limit is exceeded. Any thread.
  @inline(__always)
  func count(_ replies: inout [UInt8], since counted: inout Int, step: Int = 64 << 10) {
    if replies.count - counted < step { return }
    made.add(replies.count - counted, ordering: .relaxed)
    if isExceeded { replies = [] }
    counted = replies.count
  }
}
