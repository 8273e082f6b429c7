/// Finds deadlocks before they happen: which sleeping thread waits for which other threads.
///
/// A thread enters this graph before it sleeps until another thread has made room, has finished a change, or has ended
/// its reads. If one of these threads waits, directly or through others, for the first one, the sleep would never end.
/// ``enter(_:)`` then returns false, and the thread must do something else, such as exceed a limit or fail. A thread that
/// need not sleep does not come here, so the graph costs nothing on the usual path.
///
/// Each cycle is found. A sleeping thread keeps what it owns and what it reads, so an edge of the graph does not change
/// until that thread wakes. The thread that would close a cycle is the last one to enter it, and it searches under the
/// lock. A thread whose wait is over by now stays in the graph until it has woken; it waits for nobody, so the search
/// ends there.
///
/// Any thread may call these functions. They take a lock of the whole process, and call the closures of a ``Wait`` under
/// it.
public enum WaitGraph {
  /// A thread that is about to sleep.
  public struct Wait: Sendable {
    /// Whom it waits for.
    enum Target: Sendable {
      /// The thread with the token that this returns; 0 if there is none.
      case thread(@Sendable () -> UInt64)
      /// The threads that read the state at this address. Only those that sleep are known.
      case readers(UInt)
    }

    /// The token (``Core/threadToken``) of the thread that sleeps.
    public let thread: UInt64
    let target: Target
    let isOver: @Sendable () -> Bool
    let wake: @Sendable () -> Void
    /// The addresses of the states that the thread reads.
    let reads: [UInt]

    /// Describes a wait for another thread. The closures are called under the graph's lock, on any thread.
    ///
    /// - Parameters:
    ///   - thread: The token of the thread that sleeps.
    ///   - emptier: Returns the token of the thread that must make the room, or finish the change, at the moment of the
    ///     call; 0 if there is none.
    ///   - isOver: Returns whether there is room, or the change is finished.
    ///   - wake: Wakes the thread, so that it checks `isOver` again.
    ///   - reads: The addresses of the states with one place that the thread reads.
    public init(
      thread: UInt64, emptier: @escaping @Sendable () -> UInt64, isOver: @escaping @Sendable () -> Bool,
      wake: @escaping @Sendable () -> Void, reads: [UnsafeRawPointer] = []
    ) {
      self.init(thread, .thread(emptier), isOver, wake, reads)
    }

    /// Describes a wait for all threads that read the state at an address; otherwise the same.
    public init(
      thread: UInt64, readersOf state: UnsafeRawPointer, isOver: @escaping @Sendable () -> Bool,
      wake: @escaping @Sendable () -> Void, reads: [UnsafeRawPointer] = []
    ) {
      self.init(thread, .readers(UInt(bitPattern: state)), isOver, wake, reads)
    }

    private init(
      _ thread: UInt64, _ target: Target, _ isOver: @escaping @Sendable () -> Bool,
      _ wake: @escaping @Sendable () -> Void, _ reads: [UnsafeRawPointer]
    ) {
      self.thread = thread
      self.target = target
      self.isOver = isOver
      self.wake = wake
      self.reads = reads.map { UInt(bitPattern: $0) }
    }
  }

  private static let waits = SystemMutex<[Wait]>([])

  /// Notes that a thread is about to sleep. The thread calls ``leave(_:)`` when it has woken.
  ///
  /// - Returns: False, and nothing is noted, if the sleep would close a cycle.
  /// - Complexity: O(n²) in the number of threads that sleep.
  public static func enter(_ wait: Wait) -> Bool {
    waits.withLock { waits in
      var visited: Set<UInt64> = []
      var next = [wait]
      while let blocked = next.popLast() {
        switch blocked.target {
        case .thread(let token):
          let token = token()
          if token == wait.thread { return false }
          visit(waits.filter { $0.thread == token })
        case .readers(let state):
          if wait.reads.contains(state) { return false }
          visit(waits.filter { $0.reads.contains(state) })
        }
      }
      waits.append(wait)
      return true

      func visit(_ found: [Wait]) {
        for blocked in found where visited.insert(blocked.thread).inserted {
          if blocked.isOver() {
            // A turn announces the room that it makes only when it ends, and the caller may be inside of that turn.
            // Without this call the blocked thread would sleep until then.
            blocked.wake()
          } else {
            next.append(blocked)
          }
        }
      }
    }
  }

  /// Notes that a thread has woken.
  public static func leave(_ thread: UInt64) {
    waits.withLock { waits in waits.removeAll { $0.thread == thread } }
  }
}
