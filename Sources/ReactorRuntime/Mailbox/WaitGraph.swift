import ReactorCore

/// Who waits for room in whose mailbox: so that a send that would wait for itself is refused instead.
///
/// Turns never wait, nor do the jobs of a loop. But a thread that brings something through an operator of several
/// sources may, and so may one that hosts a loop, between two rounds. That is fine unless the thread that empties
/// the mailbox waits in turn, directly or through others, for the sender. Threads enter this graph only when they
/// are about to sleep, so an action that finds room never comes here.
///
/// A thread that sleeps keeps what it owns, so an edge of the graph does not change until it wakes up; and
/// whoever closes a cycle is the last to enter it, under the lock, so each cycle is found. A thread that is
/// in the graph but whose wait is over, because there is room by now, waits for nobody.
enum WaitGraph {
  struct Wait: Sendable {
    let thread: UInt64
    /// The token of the thread that must make the room, at the moment of asking; 0 if there is none.
    let emptier: @Sendable () -> UInt64
    let isOver: @Sendable () -> Bool
    /// Makes a thread whose wait is over notice that.
    let wake: @Sendable () -> Void
  }

  private static let waits = SystemMutex<[Wait]>([])

  /// Notes that a thread is about to sleep; false, and nothing is noted, if that would close a cycle.
  static func enter(_ wait: Wait) -> Bool {
    waits.withLock { waits in
      var next = wait.emptier()
      for _ in 0...waits.count {
        if next == wait.thread { return false }
        guard let blocked = waits.first(where: { $0.thread == next }) else { break }
        if blocked.isOver() {
          // Room that came up in the middle of a turn is announced at its end only, and this may be the turn.
          blocked.wake()
          break
        }
        next = blocked.emptier()
      }
      waits.append(wait)
      return true
    }
  }

  static func leave(_ thread: UInt64) {
    waits.withLock { waits in waits.removeAll { $0.thread == thread } }
  }
}
