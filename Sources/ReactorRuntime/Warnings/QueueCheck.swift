#if DEBUG
  import Dispatch
  import ReactorCore
  import Synchronization

  /// Finds out that the program does not run a queue that something was left to. What was left there waits for ever, and nothing
  /// else says so.
  final class QueueCheck: Sendable {
    /// The check of the main queue. Its patience is for programs that prepare much before they run the queue.
    static let main = QueueCheck(of: .main, patience: .seconds(10))

    private let queue: DispatchQueue
    private let patience: Duration
    /// Relaxed: it only makes one call of many the first one.
    private let hasBegun = Atomic(false)
    /// Relaxed: it carries nothing.
    private let hasRun = Atomic(false)

    /// - Parameter patience: How long the queue may not run until there is a warning.
    init(of queue: DispatchQueue, patience: Duration) { (self.queue, self.patience) = (queue, patience) }

    /// Called when something is left to the queue. The first call begins the check, and later ones do nothing, since a program that
    /// runs the queue once does so until it ends. Any thread.
    ///
    /// - Parameter user: What has left something there: the type that the warning names.
    func begin(for user: Any.Type) {
      if hasBegun.load(ordering: .relaxed) || hasBegun.exchange(true, ordering: .relaxed) { return }
      // Not closures in the calls: the first would belong to the main actor.
      let probe: @Sendable () -> Void = { self.hasRun.store(true, ordering: .relaxed) }
      queue.async(execute: probe)
      DispatchQueue.global(qos: .utility).asyncAfter(
        deadline: .now() + .nanoseconds(Int(patience.nanoseconds))
      ) {
        if self.hasRun.load(ordering: .relaxed) { return }
        Warning.report(.stalledMainQueue, user) { user, _ in
          "\(user) left something to the main queue, which has run nothing for \(self.patience) since."
        }
      }
    }
  }
#endif
