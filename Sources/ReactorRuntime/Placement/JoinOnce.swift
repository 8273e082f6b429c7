import ReactorCore

/// A thread that several threads may want to wait for; the first joins, the others wait for the first.
@usableFromInline
final class JoinOnce: Sendable {
  private let thread: SystemMutex<DedicatedThread?>

  @usableFromInline
  init(_ thread: consuming sending DedicatedThread) { self.thread = SystemMutex(thread) }

  @usableFromInline
  func join() {
    thread.withLock { thread in
      if let running = thread.take() { running.join() }
    }
  }
}
