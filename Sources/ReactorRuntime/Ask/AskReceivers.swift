import Dispatch
import ReactorCore
import Synchronization

/// A task that waits for a reply.
@usableFromInline
final class AskingTask<Value: Sendable>: ReplyReceiver<Value>, @unchecked Sendable {
  // Unchecked like its superclass: it adds what is Sendable.
  private let awaited = AwaitedValue<Result<Value, AskError>>()

  @usableFromInline override init() { super.init() }

  /// Suspends the task until there is a result. The task, once.
  @usableFromInline
  nonisolated(nonsending) func result() async -> Result<Value, AskError> { await awaited.get() }

  @usableFromInline
  override func receive(_ result: Result<Value, AskError>) { awaited.set(result) }

  @usableFromInline
  override var hasResult: Bool { awaited.current != nil }
}

/// A closure that is called once, with the first result.
@usableFromInline
final class AskingCallback<Value: Sendable>: ReplyReceiver<Value>, @unchecked Sendable {
  // Unchecked: the asker writes the callback before another thread knows this object, and the deadline before it sends. Then
  // only the thread that makes `isOver` true uses the callback, and only one that has a reply the deadline.
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
    TurnEndAction { self.receive(.failure(AskError(reason))) }.runInSequence()
  }

  @usableFromInline
  override func receive(_ result: Result<Value, AskError>) {
    // It retains this object.
    deadline?.cancel()
    finish(result)
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
