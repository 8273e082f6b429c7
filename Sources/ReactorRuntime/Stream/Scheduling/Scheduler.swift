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

/// Runs actions on the thread that schedules them: at once, or, inside of another action of this scheduler on
/// the same thread, after that one. So actions that schedule others do not nest, however many there are.
public struct CurrentThreadScheduler: ImmediateSchedulerType {
  /// The scheduler of each thread.
  public static let instance = CurrentThreadScheduler()

  /// What waits on one thread, while an action runs there.
  private final class ThreadQueue: @unchecked Sendable {
    // Unchecked: only `thread` touches the variables. Tasks that an action starts inherit the task-local
    // value and may run on other threads, but check `thread` first.
    let thread: UInt64
    var waiting: [PendingAction] = []
    var isOver = false

    init(thread: UInt64) { self.thread = thread }

    func run(_ action: () -> Void) {
      action()
      while !waiting.isEmpty {
        let batch = waiting
        waiting = []
        for pending in batch { pending.run() }
      }
      isOver = true
    }
  }

  @TaskLocal private static var current: ThreadQueue?

  private init() {}

  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let me = CurrentCore.threadToken
    if let queue = Self.current, queue.thread == me, !queue.isOver {
      let pending = PendingAction(action)
      queue.waiting.append(pending)
      return pending
    }
    let queue = ThreadQueue(thread: me)
    Self.$current.withValue(queue) { queue.run(action) }
    return Disposables.create()
  }
}
