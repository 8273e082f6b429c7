import Dispatch
import ReactorCore

/// A timer of the system: fires once or periodically, until it is cancelled.
///
/// The timer's handler retains this object and this object the timer, so it lives until it is over even if
/// nothing else retains it. The system releases the handler of a cancelled timer some time later, on its
/// queue. What the action captures must be released at once, so it is kept here and not in the handler.
final class DispatchTimer: Sendable {
  private struct Parts: @unchecked Sendable {
    // Unchecked: the system's sources may be used on any thread.
    var source: (any DispatchSourceTimer)?
    var action: (@Sendable () -> Void)?
  }

  private let parts = SystemMutex(Parts())

  /// Starts a timer. Any thread.
  ///
  /// - Parameters:
  ///   - queue: Where it fires.
  ///   - deadline: When it fires first.
  ///   - period: The time between two firings; nil if it fires once.
  ///   - action: What it does.
  init(
    on queue: DispatchQueue, at deadline: DispatchTime, every period: DispatchTimeInterval? = nil,
    _ action: @escaping @Sendable () -> Void
  ) {
    let source = DispatchSource.makeTimerSource(queue: queue)
    if let period {
      source.schedule(deadline: deadline, repeating: period, leeway: .nanoseconds(0))
      source.setEventHandler(handler: fireAgain)
    } else {
      source.schedule(deadline: deadline, leeway: .nanoseconds(0))
      source.setEventHandler(handler: fireOnce)
    }
    parts.withLock { $0 = Parts(source: source, action: action) }
    source.resume()
  }

  /// Prevents every firing that has not begun, and releases at once what the action captures. Any thread.
  func cancel() { _ = end() }

  @Sendable private func fireOnce() { end()?() }

  @Sendable private func fireAgain() { parts.withLock { $0.action }?() }

  /// Ends the timer. Returns the action, if this is the first end.
  private func end() -> (@Sendable () -> Void)? {
    let parts = parts.withLock { parts in
      defer { parts = Parts() }
      return parts
    }
    parts.source?.cancel()
    return parts.action
  }
}
