import Dispatch
import ReactorCore
import Synchronization

/// A task that waits for a reply.
///
/// ```
///   new ── the task waits ──▶ waiting ── there is a result ──▶ over
///    └──── there is a result ──────────────────────────────────▶
/// ```
///
/// It keeps the reply, and not the result: code that is not specialised, such as ``receive(_:)``, would look up the type of the result each
/// time. The asking function is specialised, and takes the result out.
@usableFromInline
final class AskingTask<Value: Sendable>: ReplyReceiver<Value>, @unchecked Sendable {
  // Unchecked: the thread that makes `hasFirst` true writes the reply or the error, and the task writes `task`. Each is published by
  // `phase`.

  private enum Phase {
    static var new: UInt8 { 0 }
    static var waiting: UInt8 { 1 }
    static var over: UInt8 { 2 }
  }

  /// Relaxed: it only decides which result is the first.
  private let hasFirst = Atomic(false)
  private let phase = Atomic(Phase.new)
  @exclusivity(unchecked) private var task: SuspendedTask?
  /// It refers to this object, until the task has taken it.
  @exclusivity(unchecked) @usableFromInline var reply: Reply<Value>?
  /// Why there is no reply.
  @exclusivity(unchecked) @usableFromInline var error: AskError?

  @usableFromInline override init() { super.init() }

  /// Suspends the task until there is a result. The task, once.
  @usableFromInline
  nonisolated(nonsending) func wait() async {
    await SuspendedTask.suspend { task in
      self.task = task
      // Release: the task. Acquire: the result of a thread that was faster.
      return phase.compareExchange(
        expected: Phase.new, desired: Phase.waiting, ordering: .acquiringAndReleasing
      ).exchanged
    }
    // Acquire: the result, which the resuming thread wrote before its exchange.
    _ = phase.load(ordering: .acquiring)
  }

  /// Returns the result. The task, when it has waited.
  @inlinable
  func takeResult() -> Result<Value, AskError> {
    if let reply = reply.take() { return reply.result }
    return .failure(error ?? .dropped)
  }

  @usableFromInline
  override func receive(_ reply: Reply<Value>) {
    if hasFirst.exchange(true, ordering: .relaxed) { return }
    self.reply = reply
    resume()
  }

  @usableFromInline
  override func fail(_ error: AskError) {
    if hasFirst.exchange(true, ordering: .relaxed) { return }
    self.error = error
    resume()
  }

  private func resume() {
    // Release: the result. Acquire: the task.
    if phase.exchange(Phase.over, ordering: .acquiringAndReleasing) == Phase.waiting { task?.resume() }
  }

  @usableFromInline
  override var hasResult: Bool { hasFirst.load(ordering: .relaxed) }
}

/// A closure that is called once, with the first result.
@usableFromInline
final class AskingCallback<Value: Sendable>: ReplyReceiver<Value>, @unchecked Sendable {
  // Unchecked: the asker writes the callback before another thread knows this object, and the deadline before it sends. Then only the
  // thread that makes `isOver` true uses the callback, and the deadline is only read.
  @usableFromInline typealias Callback = @Sendable (Result<Value, AskError>) -> Void

  /// Relaxed: it only decides which result is the first. What the fields contain came with the action, or with the
  /// timeout.
  private let isOver = Atomic(false)
  @exclusivity(unchecked) private var callback: Callback?
  @exclusivity(unchecked) private var deadline: Deadline?

  @usableFromInline
  init(_ callback: @escaping Callback) {
    self.callback = callback
    super.init()
  }

  /// Gives up at a deadline. The asker, before it sends.
  @usableFromInline
  func giveUp(at instant: ContinuousClock.Instant) {
    // It may pass before it is stored, so what it does must not use the field.
    deadline = Deadline(at: instant) { self.giveUp() }
  }

  /// Gives up now, unless there is a result. Any thread.
  @usableFromInline
  func giveUp() { finish(.failure(.timedOut)) }

  /// The same, after the turn that the calling thread is inside of. Any thread.
  @usableFromInline
  func giveUpInSequence() { TurnEndAction { self.giveUp() }.runInSequence() }

  /// The action was not accepted. Any thread, before the action is destroyed, which would report a reply that was dropped.
  @usableFromInline
  func refuse(_ reason: SendError) {
    TurnEndAction { self.fail(AskError(reason)) }.runInSequence()
  }

  @usableFromInline
  override func receive(_ reply: Reply<Value>) {
    // It retains this object.
    deadline?.cancel()
    finish(reply.result)
  }

  @usableFromInline
  override func fail(_ error: AskError) {
    deadline?.cancel()
    finish(.failure(error))
  }

  @usableFromInline
  override var hasResult: Bool { isOver.load(ordering: .relaxed) }

  private func finish(_ result: Result<Value, AskError>) {
    if isOver.exchange(true, ordering: .relaxed) { return }
    guard let callback else { return }
    self.callback = nil
    // What runs after a turn is marked as a turn, and in sequence with what it causes. Elsewhere this must see to both: the callback
    // may send without waiting for room, and ask again.
    if TurnEnd.mustWait { return callback(result) }
    TurnEndAction { callback(result) }.runInSequence()
  }
}
