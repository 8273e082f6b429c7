#if DEBUG
  import Dispatch
  import ReactorCore
  import Synchronization

  /// Finds out that the program does not run a queue that something was left to. What was left there waits for ever, and nothing
  /// else says so.
  ///
  /// It checks once, after the first use. A program that has run the queue by then may stop to run it later, which this does not
  /// find.
  final class QueueCheck: Sendable {
    /// The check of the main queue. Its patience is for programs that prepare much before they run the queue.
    static let main = QueueCheck(of: .main, patience: .seconds(10))

    private let queue: DispatchQueue
    private let patienceNanoseconds: Atomic<Int64>
    private let after: CallAfter
    /// Relaxed: it only makes one call of many the first one.
    private let hasBegun = Atomic(false)
    /// Relaxed: it carries nothing.
    private let hasRun = Atomic(false)

    /// - Parameters:
    ///   - patience: How long the queue may not run until there is a warning.
    ///   - after: Schedules the end of that. Tests replace it.
    init(of queue: DispatchQueue, patience: Duration, after: @escaping CallAfter = callOnGlobalQueue) {
      self.queue = queue
      patienceNanoseconds = Atomic(patience.nanoseconds)
      self.after = after
    }

    /// How long the queue may not run. Tests set it, before the first use.
    var patience: Duration {
      get { .nanoseconds(patienceNanoseconds.load(ordering: .relaxed)) }
      set { patienceNanoseconds.store(newValue.nanoseconds, ordering: .relaxed) }
    }

    /// Called before something is left to the queue: what is behind it may run for long. The first call begins the check, and later
    /// ones do nothing. Any thread.
    ///
    /// - Parameter user: What leaves something there: the type that the warning names.
    func begin(for user: Any.Type) {
      if hasBegun.load(ordering: .relaxed) || hasBegun.exchange(true, ordering: .relaxed) { return }
      // Not a closure in the call, which would belong to the main actor.
      let probe: @Sendable () -> Void = { self.noteRun() }
      queue.async(execute: probe)
      after(patience) {
        if self.hasRun.load(ordering: .relaxed) { return }
        // After a process was stopped, as by a debugger, the time may be over before the queue could run.
        self.after(.seconds(1)) { self.report(user) }
      }
    }

    /// Called by code that runs the queue, or its work in another way. Any thread.
    func noteRun() { hasRun.store(true, ordering: .relaxed) }

    private func report(_ user: Any.Type) {
      if hasRun.load(ordering: .relaxed) { return }
      Warning.report(.stalledMainQueue, user) { user, _ in
        "\(user) left something to the main queue, which has run nothing for \(self.patience) since."
      }
    }
  }
#endif
