import Dispatch
import Synchronization

/// Runs on the system's main queue: whoever runs it must call `dispatchMain()`, `RunLoop.main.run()`, or have
/// an asynchronous `main`.
///
/// ``instance`` runs an action at once if the caller is on the main queue already and nothing that was told
/// before is outstanding, so that the order is kept; otherwise, as ``asyncInstance`` always does, it leaves
/// it to the queue.
public final class MainScheduler: SchedulerType {
  /// The one that spares the detour over the queue where it can.
  public static let instance = MainScheduler()

  /// The one that always goes over the queue.
  public static let asyncInstance = SerialDispatchQueueScheduler(serialQueue: .main)

  private static let mark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  private let scheduling = DispatchQueueScheduling(queue: .main)
  /// Actions told by ``schedule(_:)`` that have not ended. Relaxed: it only chooses the way; a caller on the
  /// main queue sees what it has added itself, and what others add at the same time has no order.
  private let outstanding = Atomic(0)

  private init() {}

  /// Whether the caller is on the main queue.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

  /// Stops the program unless the caller is on the main queue.
  public static func ensureExecutingOnScheduler(errorMessage: String? = nil) {
    if isCurrent { return }
    fatalError(errorMessage ?? "not on the main queue; use observe(on: MainScheduler.instance)")
  }

  public var now: RxTimeInterval { DispatchQueueScheduling.now }

  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let before = outstanding.wrappingAdd(1, ordering: .relaxed).oldValue
    if before == 0, Self.isCurrent {
      action()
      outstanding.wrappingSubtract(1, ordering: .relaxed)
      return Disposables.create()
    }
    let pending = PendingAction(action)
    scheduling.queue.async {
      pending.run()
      self.outstanding.wrappingSubtract(1, ordering: .relaxed)
    }
    return pending
  }

  public func schedule(
    after delay: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { scheduling.schedule(after: delay, action) }

  public func schedulePeriodic(
    after delay: RxTimeInterval, every period: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { scheduling.schedulePeriodic(after: delay, every: period, action) }
}
