/// Finds deadlocks before they happen: which sleeping thread waits for which other thread.
///
/// A thread that is about to sleep until another thread has made room enters this graph. If the other thread
/// waits, directly or through others, for the first one, the sleep would never end; ``enter(_:)`` then
/// returns false, and the thread must do something else, such as exceed a limit or fail. A thread that finds
/// room does not come here, so the graph costs nothing on the usual path.
///
/// Each cycle is found. A sleeping thread keeps what it owns, so an edge of the graph does not change until
/// that thread wakes. The thread that would close a cycle is the last one to enter it, and it searches under
/// the lock. A thread whose wait is over, because there is room by now, stays in the graph until it
/// has woken; it waits for nobody, so the search ends there.
///
/// Any thread may call these functions. They take a lock of the whole process, and call the closures of a
/// ``Wait`` under it.
public enum WaitGraph {
  /// A thread that is about to sleep.
  public struct Wait: Sendable {
    /// The token (``Core/threadToken``) of the thread that sleeps.
    public let thread: UInt64
    let emptier: @Sendable () -> UInt64
    let isOver: @Sendable () -> Bool
    let wake: @Sendable () -> Void

    /// Describes a wait. The closures are called under the graph's lock, on any thread.
    ///
    /// - Parameters:
    ///   - thread: The token of the thread that sleeps.
    ///   - emptier: Returns the token of the thread that must make the room, at the moment of the call; 0 if
    ///     there is none.
    ///   - isOver: Returns whether there is room.
    ///   - wake: Wakes the thread, so that it checks `isOver` again.
    public init(
      thread: UInt64, emptier: @escaping @Sendable () -> UInt64, isOver: @escaping @Sendable () -> Bool,
      wake: @escaping @Sendable () -> Void
    ) {
      self.thread = thread
      self.emptier = emptier
      self.isOver = isOver
      self.wake = wake
    }
  }

  private static let waits = SystemMutex<[Wait]>([])

  /// Notes that a thread is about to sleep. The thread calls ``leave(_:)`` when it has woken.
  ///
  /// - Returns: False, and nothing is noted, if the sleep would close a cycle.
  /// - Complexity: O(n²) in the number of threads that sleep.
  public static func enter(_ wait: Wait) -> Bool {
    waits.withLock { waits in
      var next = wait.emptier()
      for _ in 0...waits.count {
        if next == wait.thread { return false }
        guard let blocked = waits.first(where: { $0.thread == next }) else { break }
        if blocked.isOver() {
          // A turn announces the room that it makes only when it ends, and the caller may be inside of that
          // turn. Without this call the blocked thread would sleep until then.
          blocked.wake()
          break
        }
        next = blocked.emptier()
      }
      waits.append(wait)
      return true
    }
  }

  /// Notes that a thread has woken.
  public static func leave(_ thread: UInt64) {
    waits.withLock { waits in waits.removeAll { $0.thread == thread } }
  }
}
