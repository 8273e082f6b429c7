import ReactorCore

/// Where something runs: a queue of the system, the calling thread, or the virtual time of a test.
public protocol ImmediateSchedulerType: Sendable {
  /// Runs `action` as soon as possible. Any thread.
  ///
  /// Most schedulers run it later, after this has returned. ``MainScheduler/instance`` and
  /// ``CurrentThreadScheduler`` may run it at once.
  ///
  /// - Returns: A disposable that prevents the action unless it has begun, and then releases what it
  ///   captures.
  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable
}

/// Where and when something runs.
public protocol SchedulerType: ImmediateSchedulerType {
  /// The time that has passed since some fixed moment. Only differences of one scheduler mean anything. Any
  /// thread.
  var now: RxTimeInterval { get }

  /// Runs `action` once, after a delay; as soon as possible if that is not positive. Any thread.
  ///
  /// The action runs whether or not the result is kept.
  ///
  /// - Returns: A disposable that prevents the action unless it has begun, and releases at once what it
  ///   captures.
  func schedule(after delay: RxTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable

  /// Runs `action` periodically, never twice at the same time, until the result is disposed of. Any thread.
  ///
  /// - Returns: A disposable that ends the runs, and releases at once what the action captures.
  func schedulePeriodic(
    after delay: RxTimeInterval, every period: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable
}

/// A scheduler whose time goes on only when a test says so, such as `TestScheduler` of ReactorTesting. A scheduler of your own that
/// passes actions on to such a scheduler conforms as well.
///
/// On other schedulers, an operator that finds its timer running when an element comes may let it run on, and start the rest when it
/// has fired; and what a timer causes while the operator is busy on another thread is scheduled again, so that it is delivered on the
/// scheduler. In virtual time neither is done: actions of one moment run in the order in which they were scheduled, and the time may
/// not go on any more.
public protocol VirtualTimeSchedulerType: SchedulerType {}

/// RxSwift's name for the time between two moments: `.milliseconds(500)`, `.seconds(1)`.
public typealias RxTimeInterval = Duration

/// The scheduler of operators that are given none.
public enum Schedulers {
  /// What `delay`, `interval` and the like use that are made on a thread or in a task while this is set
  /// there. Tests set virtual time.
  @TaskLocal public static var timing: any SchedulerType = ConcurrentDispatchQueueScheduler.shared
}

/// An action that is to run once, unless it is disposed of before.
///
/// Running and disposing both take the closure out, and the first one gets it. So a queue may keep this
/// object, empty, for as long as it likes.
final class PendingAction: Disposable {
  private let action: SystemMutex<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) { self.action = SystemMutex(action) }

  func run() { take()?() }

  func dispose() { _ = take() }

  private func take() -> (@Sendable () -> Void)? { action.withLock { $0.take() } }
}

/// Runs actions on the thread that schedules them: at once, or, if other actions or the elements of streams are waiting for
/// their turn on that thread, behind them. So actions that schedule others do not nest, however many there are.
public struct CurrentThreadScheduler: ImmediateSchedulerType {
  /// The scheduler of each thread.
  public static let instance = CurrentThreadScheduler()

  private init() {}

  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    if EmissionQueue.isOpen {
      let pending = PendingAction(action)
      EmissionQueue.append(ScheduledEmission(pending))
      return pending
    }
    EmissionQueue.open(action)
    return Disposables.create()
  }
}

/// An action that waits for its turn on the thread that has scheduled it.
private final class ScheduledEmission: Emission, @unchecked Sendable {
  // Unchecked: as the superclass; what is added is constant.
  private let action: PendingAction

  init(_ action: PendingAction) {
    self.action = action
    super.init()
  }

  override func emit() { action.run() }
}
