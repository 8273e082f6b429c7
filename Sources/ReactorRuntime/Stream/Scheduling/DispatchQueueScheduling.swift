import Dispatch

/// What the schedulers on the system's queues have in common.
struct DispatchQueueScheduling: Sendable {
  let queue: DispatchQueue

  /// By the system's monotonic clock, which does not go on while the machine sleeps.
  static var now: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let pending = PendingAction(action)
    queue.async(execute: pending.run)
    return pending
  }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    DispatchTimer(on: queue, after: delay, every: nil, action)
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    DispatchTimer(on: queue, after: delay, every: period, action)
  }
}
