import ReactorCore
import Synchronization

/// A thread that does one errand after the other, as the property's thread tells it.
final class SnapshotsHand<Errand: Sendable>: Sendable {
  private let errands = SystemMutex<[Errand]>([])
  private let given = Atomic(0)
  private let done = Atomic(0)
  private let isGiven: EventCount
  private let isDone: EventCount
  private let thread = SystemMutex<DedicatedThread?>(nil)

  /// - Parameter body: Runs on the thread; takes errands by ``next()``, and calls ``finish()`` after each.
  init(_ body: @escaping @Sendable (SnapshotsHand) -> Void) {
    do throws(CoreError) {
      isGiven = try EventCount()
      isDone = try EventCount()
    } catch { fatalError("\(error)") }
    thread.withLock { $0 = DedicatedThread(named: "fuzz") { body(self) } }
  }

  // MARK: The property's thread

  func give(_ errand: Errand) {
    errands.withLock { $0.append(errand) }
    given.add(1, ordering: .sequentiallyConsistent)
    isGiven.notify()
  }

  /// Waits until everything that was given is done.
  func wait() {
    while !isIdle { _ = isDone.wait { isIdle } }
  }

  /// Waits until `body` has returned.
  func join() { thread.withLock { $0.take()?.join() } }

  private var isIdle: Bool {
    done.load(ordering: .sequentiallyConsistent) == given.load(ordering: .sequentiallyConsistent)
  }

  // MARK: The hand's thread

  func next() -> Errand {
    while true {
      if let errand = errands.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return errand }
      _ = isGiven.wait { errands.withLock { !$0.isEmpty } }
    }
  }

  func finish() {
    done.add(1, ordering: .sequentiallyConsistent)
    isDone.notify()
  }
}
