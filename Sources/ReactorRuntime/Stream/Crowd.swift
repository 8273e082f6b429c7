import ReactorCore

/// Where threads sleep that bring more than can be handled. One place for all who handle: it is rare.
enum Crowd {
  private static let room: EventCount = {
    do { return try EventCount() } catch { fatalError("no memory for an event count: \(error)") }
  }()

  /// How many inputs may wait.
  static let limit = 1024

  /// Wakes the threads that wait for room, so that they look again. Any thread.
  static func notify() { room.notify() }

  /// Sleeps until there is room, unless waiting would wait for itself: then rather one more input in memory
  /// than a deadlock or a loss.
  ///
  /// - Parameters:
  ///   - thread: The token of the thread that calls.
  ///   - handler: Answers the token of the thread that makes room; 0 if there is none.
  static func wait(
    _ thread: UInt64, handler: @escaping @Sendable () -> UInt64, hasRoom: @escaping @Sendable () -> Bool
  ) {
    let wait = WaitGraph.Wait(thread: thread, emptier: handler, isOver: hasRoom, wake: notify)
    guard WaitGraph.enter(wait) else { return }
    defer { WaitGraph.leave(thread) }
    _ = room.wait(until: hasRoom)
  }
}
