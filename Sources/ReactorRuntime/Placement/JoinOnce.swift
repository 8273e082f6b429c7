import ReactorCore
import Synchronization

/// A thread that several threads may want to wait for; the first joins, the others wait for the first.
final class JoinOnce: Sendable {
  private let thread: Mutex<DedicatedThread?>

  init(_ thread: consuming sending DedicatedThread) { self.thread = Mutex(thread) }

  func join() {
    thread.withLock { thread in
      if let running = thread.take() { running.join() }
    }
  }
}
