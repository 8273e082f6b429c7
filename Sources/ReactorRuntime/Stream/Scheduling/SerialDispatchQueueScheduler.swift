import Dispatch

/// Runs on a queue of the system, one thing at a time, in the order in which it was told.
///
/// It makes a serial queue of its own, in front of the one it is given, which may be concurrent.
public struct SerialDispatchQueueScheduler: SchedulerType {
  private let scheduling: DispatchQueueScheduling

  /// Runs on `queue` itself, which is serial.
  init(serialQueue queue: DispatchQueue) { scheduling = DispatchQueueScheduling(queue: queue) }

  /// Runs on a serial queue of its own.
  public init(internalSerialQueueName: String) {
    self.init(serialQueue: DispatchQueue(label: internalSerialQueueName))
  }

  /// Runs one thing at a time on a queue of yours, which may be concurrent.
  public init(queue: DispatchQueue, internalSerialQueueName: String = "rx.global_dispatch_queue.serial") {
    self.init(serialQueue: DispatchQueue(label: internalSerialQueueName, target: queue))
  }

  /// Runs one thing at a time on the system's global queue of that quality of service.
  public init(qos: DispatchQoS, internalSerialQueueName: String = "rx.global_dispatch_queue.serial") {
    self.init(queue: .global(qos: qos.qosClass), internalSerialQueueName: internalSerialQueueName)
  }

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
