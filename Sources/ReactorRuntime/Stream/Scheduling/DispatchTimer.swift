import Dispatch
import ReactorCore

/// A timer of the system: once or again and again, until it is disposed.
///
/// The timer's handler retains this object and this object the timer, so it lives until it is over even if
/// nobody holds it. The system lets go of a cancelled timer's handler some time later, on its queue; what the
/// action captures is therefore here, and gone at once.
final class DispatchTimer: Disposable {
  private struct Parts: @unchecked Sendable {
    // Unchecked: the system's sources may be used on any thread.
    var source: (any DispatchSourceTimer)?
    var action: (@Sendable () -> Void)?
  }

  private let parts = SystemMutex(Parts())

  init(
    on queue: DispatchQueue, after delay: Duration, every period: Duration?,
    _ action: @escaping @Sendable () -> Void
  ) {
    let source = DispatchSource.makeTimerSource(queue: queue)
    let deadline = DispatchTime.now() + delay.dispatchInterval(atLeast: 0)
    if let period {
      let interval = period.dispatchInterval(atLeast: 1)
      source.schedule(deadline: deadline, repeating: interval, leeway: .nanoseconds(0))
      source.setEventHandler(handler: fireAgain)
    } else {
      source.schedule(deadline: deadline, leeway: .nanoseconds(0))
      source.setEventHandler(handler: fireOnce)
    }
    parts.withLock { $0 = Parts(source: source, action: action) }
    source.resume()
  }

  func dispose() { _ = end() }

  @Sendable private func fireOnce() { end()?() }

  @Sendable private func fireAgain() { parts.withLock { $0.action }?() }

  /// The action, if this is the first end.
  private func end() -> (@Sendable () -> Void)? {
    let parts = parts.withLock { parts in
      defer { parts = Parts() }
      return parts
    }
    parts.source?.cancel()
    return parts.action
  }
}

extension Duration {
  /// In whole nanoseconds, but for what a queue of the system cannot wait: less than `least`, or centuries.
  func dispatchInterval(atLeast least: Int64) -> DispatchTimeInterval {
    // Half of what fits, so that adding the present does not overflow.
    .nanoseconds(Int(min(max(nanoseconds, least), .max / 2)))
  }
}
