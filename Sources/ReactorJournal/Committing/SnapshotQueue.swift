import ReactorCore
import ReactorRuntime

/// The members whose states are to be stored. A few at a time are encoded, each by a thread, and wait for the committer: reactors with
/// the same load are due together.
struct SnapshotQueue: Sendable {
  /// How many states are being encoded or wait for the committer.
  private(set) var running = 0
  /// Nil is one that was removed: the last reference to a member must not go under the lock.
  private var waiting: [JournalMember?] = []
  /// The index of the first one that waits.
  private var first = 0

  /// Whether a state is being encoded or waits for the committer.
  var isRunning: Bool { running > 0 }

  /// Adds a member, which must not wait already.
  mutating func append(_ member: JournalMember) { waiting.append(member) }

  /// Removes the first member; nil if none waits, or if enough states are in memory. O(1) on average. ``end()`` must follow.
  mutating func begin(limit: Int) -> JournalMember? {
    guard running < limit, first < waiting.count else { return nil }
    running += 1
    let member = waiting[first].take()
    first += 1
    if 2 * first >= waiting.count {
      waiting.removeFirst(first)
      first = 0
    }
    return member
  }

  /// Removes all members that wait.
  mutating func removeAll() -> [JournalMember] {
    defer { (waiting, first) = ([], 0) }
    return waiting.compactMap { $0 }
  }

  /// A state is written, or dropped.
  mutating func end() { running -= 1 }
}

/// Any thread.
extension Journal {
  /// How many states are encoded at once, each by a thread, and are in memory.
  static var statesAtOnce: Int { 16 }

  /// Makes a snapshot of a member as soon as there are few others.
  func queueSnapshot(of member: JournalMember) {
    snapshots.withLock { $0.append(member) }
    beginSnapshots()
  }

  /// A member's snapshot is written, or dropped.
  func endSnapshot() {
    snapshots.withLock { $0.end() }
    beginSnapshots()
  }

  /// After the end. The members retain the journal.
  func dropWaitingSnapshots() {
    for member in snapshots.withLock({ $0.removeAll() }) { member.bound?.dropSnapshot() }
  }

  private func beginSnapshots() {
    while let member = snapshots.withLock({ $0.begin(limit: Self.statesAtOnce) }) {
      // Of a journal that ends, the others are dropped: the end must not wait for them.
      let isBegun = !mustEnd && member.bound?.tryBeginSnapshot() == true
      if isBegun { continue }
      member.bound?.dropSnapshot()
      snapshots.withLock { $0.end() }
    }
  }

  private var mustEnd: Bool { failure != nil || work.withLock { $0.mustStop || $0.hasStopped } }
}
