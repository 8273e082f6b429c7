import Synchronization

/// Who waits for room in whose mailbox: so that a send that would wait for itself is refused instead.
///
/// A thread that runs a turn may send to another reactor whose mailbox is full. That is fine unless the
/// thread that empties that mailbox waits in turn, directly or through others, for the sender. Threads
/// enter this graph only when they are about to sleep, so an action that finds room never comes here.
///
/// A thread that sleeps keeps what it owns, so an edge of the graph does not change until it wakes up; and
/// whoever closes a cycle is the last to enter it, under the lock, so each cycle is found.
enum WaitGraph {
  private struct Wait {
    let thread: UInt64
    let emptier: @Sendable () -> UInt64
  }

  private static let waits = Mutex<[Wait]>([])

  /// Notes that `thread` waits for the thread that `emptier` names at the moment of asking (0: nobody yet);
  /// false if that would close a cycle.
  static func enter(_ thread: UInt64, waitingFor emptier: @escaping @Sendable () -> UInt64) -> Bool {
    waits.withLock { waits in
      var next = emptier()
      for _ in 0...waits.count {
        if next == thread { return false }
        guard let wait = waits.first(where: { $0.thread == next }) else { break }
        next = wait.emptier()
      }
      waits.append(Wait(thread: thread, emptier: emptier))
      return true
    }
  }

  static func leave(_ thread: UInt64) {
    waits.withLock { waits in waits.removeAll { $0.thread == thread } }
  }
}
