/// Where something runs: a queue of the system, the thread itself, or the virtual time of a test.
public protocol ImmediateSchedulerType: Sendable {
  /// Runs `action` as soon as possible. Any thread.
  ///
  /// Most schedulers run it later, after this has returned; ``MainScheduler/instance`` and
  /// ``CurrentThreadScheduler`` may run it at once.
  ///
  /// - Returns: What prevents it, unless it has begun, and then lets go of what it captures.
  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable
}

/// Where and when something runs.
public protocol SchedulerType: ImmediateSchedulerType {
  /// The time that has passed since some fixed moment of this scheduler's. Any thread.
  var now: RxTimeInterval { get }

  /// Runs `action` once, after a time; as soon as possible if that is not positive. Any thread.
  ///
  /// It runs whether or not anybody holds the answer.
  ///
  /// - Returns: What prevents it, unless it has begun, and lets go at once of what it captures.
  func schedule(after delay: RxTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable

  /// Runs `action` again and again, never twice at once, until the answer is disposed. Any thread.
  ///
  /// - Returns: What ends it, and lets go at once of what it captures.
  func schedulePeriodic(
    after delay: RxTimeInterval, every period: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable
}

/// RxSwift's name for the time between two moments: `.milliseconds(500)`, `.seconds(1)`.
public typealias RxTimeInterval = Duration
