/// What waits for the committer.
struct Work: Sendable {
  /// Members with a pending group, each once.
  var members: [JournalMember] = []
  var extras = Extras()
  var jobs: [@Sendable () -> Void] = []
  /// Whether the reactors are being closed: one that is bound from now on is closed as well, before its first turn.
  var isClosing = false
  var mustStop = false
  /// Whether the committer takes no more work.
  var hasStopped = false
  /// Whether the committer does nothing more at all.
  var hasEnded = false
}

/// A snapshot that is to be written.
struct PendingSnapshot: Sendable {
  let snapshot: JournalSnapshot
  /// Called when it was written, with nil, or dropped, with the reason. The committer.
  let finish: @Sendable (JournalError?) -> Void
}

/// Entries whose removal waits for a commit.
struct PendingRetirement: Sendable {
  let entries: [UInt32]
  /// Called when they are removed, with nil, or are not, with the reason. The committer.
  let finish: @Sendable (JournalError?) -> Void
}

/// What a commit takes besides records, and may leave out: retirements with the next records, or snapshots, behind those.
struct Extras: Sendable {
  var snapshots: [PendingSnapshot] = []
  var retirements: [PendingRetirement] = []

  var isEmpty: Bool { snapshots.isEmpty && retirements.isEmpty }

  /// Removes the first snapshots, until these have a number of bytes; one at least, if there is any.
  mutating func takeSnapshots(byteCount limit: Int) -> [PendingSnapshot] {
    var size = 0
    let taken = snapshots.prefix { pending in
      defer { size += pending.snapshot.bytes.count }
      return size < limit
    }
    snapshots.removeFirst(taken.count)
    return Array(taken)
  }

  var retired: [UInt32] { retirements.flatMap(\.entries) }

  /// The committer, when they were written, or left out for a reason.
  func finish(_ reason: JournalError?) {
    for snapshot in snapshots { snapshot.finish(reason) }
    for retirement in retirements { retirement.finish(reason) }
  }
}
