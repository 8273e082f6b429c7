import ReactorCore
import ReactorRuntime
import Synchronization

/// Code that runs again when what it has read changes.
///
/// ```swift
/// let counter = ObservedReactor(reactor: CounterReactor())
/// let label = ReactorObserving { print("count: \(counter.count)") }
/// ```
///
/// It runs on the main loop, or the loop that it was made with: once when it is made, and then whenever a property changed that
/// its latest run has read. Changes that come before it has run again lead to one run; one of a property of an ``ObservedReactor``
/// that comes in the middle of a run, after it was read, leads to another run. So code that reads a reactor, changes it, and reads
/// what it has changed may run for ever: let other code change it. It ends when ``dispose()`` is called or
/// the last reference to it is gone.
///
/// Other observable objects announce a property before they store its new value. So one that another thread than the loop's
/// changes may leave it with the old value: the run may read before the value is stored. That cannot happen if the reads and the
/// changes take a lock, or if the object is changed on the loop.
public final class ReactorObserving: Disposable {
  private let loop: ObservationLoop
  /// Nil once it is disposed of.
  private let body: SystemMutex<Body?>
  /// Whether a run waits on the loop.
  ///
  /// Acquiring and releasing: the end of the wait comes before the reads of the run. So a change that still finds it waiting is
  /// seen by that run.
  private let isScheduled = Atomic(false)
  /// Read by each run, so that nothing of it stays registered for a property that seldom changes.
  private let end = ObservingEnd()

  /// Begins to run the code; at once if the calling thread is on the loop.
  ///
  /// - Parameters:
  ///   - loop: Where it runs.
  ///   - body: The code. What it reads through an ``ObservedReactor``, or of other observable objects, is observed.
  public init(on loop: ObservationLoop = .main, _ body: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.body = SystemMutex(Body(call: body))
    if loop.isCurrent() { run() } else { schedule() }
  }

  deinit { end.reach() }

  /// Ends it: it does not run again, what the code refers to is released, and what it has read is no longer observed. Any
  /// thread; only one that is on the loop knows that it does not run at this moment.
  public func dispose() {
    // Released outside of the mutex, since a deinit may run.
    _ = body.withLock { body in
      defer { body = nil }
      return body
    }
    end.reach()
  }

  private func schedule() {
    // Its end is announced to it, too.
    if body.withLock({ $0 == nil }) { return }
    guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    loop.execute { [weak self] in self?.run() }
  }

  private func run() {
    _ = isScheduled.exchange(false, ordering: .acquiringAndReleasing)
    guard let body = body.withLock({ $0 }) else { return }
    // Called by the thread that announces, perhaps before the change: so it runs later, on the loop.
    ObservingRun { [weak self] in self?.schedule() }.observe(until: end, body.call)
  }

  /// In a structure, because a generic mutex converts a closure that it stores directly each time that it is read: after many
  /// runs a call would pass through as many converters, and overflow the stack.
  private struct Body: Sendable { let call: @Sendable () -> Void }
}
