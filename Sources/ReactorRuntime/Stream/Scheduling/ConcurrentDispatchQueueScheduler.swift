import Dispatch

/// Runs on a queue of the system, several things at once if the queue does.
///
/// Operators that are told this one still deliver one event at a time, in order. A periodic action whose
/// queue is late runs once for the times it missed.
public struct ConcurrentDispatchQueueScheduler: SchedulerType {
  /// The one of the system's global queue.
  public static let shared = ConcurrentDispatchQueueScheduler(queue: .global())

  private let scheduling: DispatchQueueScheduling

  /// Runs on a queue of yours.
  public init(queue: DispatchQueue) { scheduling = DispatchQueueScheduling(queue: queue) }

  /// Runs on the system's global queue of that quality of service.
  public init(qos: DispatchQoS) { self.init(queue: .global(qos: qos.qosClass)) }

  public var now: RxTimeInterval { DispatchQueueScheduling.now }

  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    scheduling.schedule(action)
  }

  public func schedule(
    after delay: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { scheduling.schedule(after: delay, action) }

  public func schedulePeriodic(
    after delay: RxTimeInterval, every period: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { scheduling.schedulePeriodic(after: delay, every: period, action) }
}
