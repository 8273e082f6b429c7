import Dispatch
import ReactorCore
import Synchronization

/// Runs actions on a queue of the system, several at the same time if the queue does.
///
/// Operators that use this scheduler still deliver one event at a time, in order. A periodic action whose
/// queue is late runs once for all the periods that it missed.
public struct ConcurrentDispatchQueueScheduler: SchedulerType {
  /// The scheduler of the system's global queue.
  public static let shared = ConcurrentDispatchQueueScheduler(DispatchQueueScheduling(queue: nil))

  private let scheduling: DispatchQueueScheduling

  private init(_ scheduling: DispatchQueueScheduling) { self.scheduling = scheduling }

  /// Creates a scheduler that runs actions on `queue`.
  public init(queue: DispatchQueue) { scheduling = DispatchQueueScheduling(queue: queue) }

  /// Creates a scheduler that runs actions on the system's global queue of that quality of service.
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

/// Runs actions on a queue of the system, one at a time, in the order in which they were scheduled.
///
/// Makes a serial queue of its own, in front of the one that it is given, which may be concurrent.
public struct SerialDispatchQueueScheduler: SchedulerType {
  private let scheduling: DispatchQueueScheduling

  /// Creates a scheduler that runs actions on `queue` itself, which is serial.
  init(serialQueue queue: DispatchQueue) { scheduling = DispatchQueueScheduling(queue: queue) }

  /// Creates a scheduler with a serial queue of its own.
  public init(internalSerialQueueName: String) {
    self.init(serialQueue: DispatchQueue(label: internalSerialQueueName))
  }

  /// Creates a scheduler that runs one action at a time on `queue`, which may be concurrent.
  public init(queue: DispatchQueue, internalSerialQueueName: String = "rx.global_dispatch_queue.serial") {
    self.init(serialQueue: DispatchQueue(label: internalSerialQueueName, target: queue))
  }

  /// Creates a scheduler that runs one action at a time on the system's global queue of that quality of
  /// service.
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

/// Runs actions on the system's main queue. The program must run that queue: by `MainLoop.run`, by `dispatchMain()`, by
/// `RunLoop.main.run()`, or by an asynchronous `main`.
///
/// ``instance`` runs an action at once if the caller is on the main queue and no earlier action is
/// outstanding, so that the order is kept. Otherwise it leaves the action to the queue, as ``asyncInstance``
/// always does.
public final class MainScheduler: SchedulerType {
  /// The scheduler that runs actions at once where it can.
  public static let instance = MainScheduler(runsAtOnce: true)

  /// The scheduler that always leaves actions to the queue.
  public static let asyncInstance = MainScheduler(runsAtOnce: false)

  private static let mark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// One object for both schedulers, so that their timers have one order: `DispatchQueue.main` is a new one each time.
  private static let queue = DispatchQueue.main

  private let scheduling = DispatchQueueScheduling(queue: queue)
  /// Whether an action runs inside of ``schedule(_:)`` where it can.
  private let runsAtOnce: Bool
  /// Actions of ``schedule(_:)`` that have not ended. Relaxed: it only chooses the path. A caller on the main
  /// queue sees what it has added itself, and what others add at the same time has no order.
  private let outstanding = Atomic(0)

  private init(runsAtOnce: Bool) { self.runsAtOnce = runsAtOnce }

  /// Whether the caller is on the main queue.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

  /// Stops the program unless the caller is on the main queue.
  public static func ensureExecutingOnScheduler(errorMessage: String? = nil) {
    if isCurrent { return }
    fatalError(errorMessage ?? "not on the main queue; use observe(on: MainScheduler.instance)")
  }

  public var now: RxTimeInterval { DispatchQueueScheduling.now }

  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    if !runsAtOnce {
      Self.noteUse()
      return scheduling.schedule(action)
    }
    let before = outstanding.wrappingAdd(1, ordering: .relaxed).oldValue
    if before == 0, Self.isCurrent {
      action()
      outstanding.wrappingSubtract(1, ordering: .relaxed)
      return Disposables.create()
    }
    Self.noteUse()
    let pending = PendingAction(action)
    Self.queue.async {
      pending.run()
      self.outstanding.wrappingSubtract(1, ordering: .relaxed)
    }
    return pending
  }

  public func schedule(
    after delay: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    Self.noteUse()
    return scheduling.schedule(after: delay, action)
  }

  public func schedulePeriodic(
    after delay: RxTimeInterval, every period: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    Self.noteUse()
    return scheduling.schedulePeriodic(after: delay, every: period, action)
  }

  /// Called before something is left to the main queue: lets a debug build find out whether the program runs it. Any thread.
  static func noteUse(by user: Any.Type = MainScheduler.self) {
    #if DEBUG
      QueueCheck.main.begin(for: user)
    #endif
  }
}

/// What the schedulers on the system's queues have in common.
private struct DispatchQueueScheduling: Sendable {
  /// Nil for any thread of the system's global queue.
  let queue: DispatchQueue?

  /// The system's monotonic clock, which stops while the machine sleeps.
  static var now: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let pending = PendingAction(action)
    (queue ?? .global()).async(execute: pending.run)
    return pending
  }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    queue.map { Deadline(after: delay, on: $0, action) } ?? Deadline(after: delay, action)
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    DispatchTimer(
      on: queue ?? .global(), at: .now() + delay.dispatchInterval(atLeast: 0),
      every: period.dispatchInterval(atLeast: 1),
      action)
  }
}

extension Deadline: Disposable {
  func dispose() { cancel() }
}

extension DispatchTimer: Disposable {
  func dispose() { cancel() }
}

extension Duration {
  /// In whole nanoseconds, limited to what a queue of the system can wait for: from `least` to centuries.
  func dispatchInterval(atLeast least: Int64) -> DispatchTimeInterval {
    // Half of what fits, so that adding the present does not overflow.
    .nanoseconds(Int(min(max(nanoseconds, least), .max / 2)))
  }
}
