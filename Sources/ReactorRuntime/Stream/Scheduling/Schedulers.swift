/// The scheduler of operators that are not told any.
public enum Schedulers {
  /// What `delay`, `interval` and the like use that are made while this is set, on the thread or task where
  /// it is set: for tests, which set virtual time.
  @TaskLocal public static var timing: any SchedulerType = ConcurrentDispatchQueueScheduler.shared
}
