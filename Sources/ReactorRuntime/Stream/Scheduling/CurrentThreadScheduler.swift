import ReactorCore

/// Runs on the thread that tells it: at once, or, if that is inside another action of this scheduler's on the
/// same thread, when that one is done. So actions that schedule others do not nest, whatever their number.
public struct CurrentThreadScheduler: ImmediateSchedulerType {
  public static let instance = CurrentThreadScheduler()

  /// What waits on one thread, while an action runs there.
  private final class Line: @unchecked Sendable {
    // Unchecked: only `thread` touches the variables; others, which may inherit the task-local value, look at
    // `thread` first.
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

  @TaskLocal private static var line: Line?

  private init() {}

  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let me = CurrentCore.threadToken
    if let line = Self.line, line.thread == me, !line.isOver {
      let pending = PendingAction(action)
      line.waiting.append(pending)
      return pending
    }
    let line = Line(thread: me)
    Self.$line.withValue(line) { line.run(action) }
    return Disposables.create()
  }
}
