import Dispatch
import ReactorCore
import Synchronization

/// A task that waits for a reply.
@usableFromInline
final class AskingTask<Value: Sendable>: ReplyReceiver<Value>, @unchecked Sendable {
  // Unchecked like its superclass: everything that changes is under the lock.
  private enum Phase: Sendable {
    case new
    case waiting(CheckedContinuation<Result<Value, AskError>, Never>)
    case over(Result<Value, AskError>)
  }

  private let phase = SystemMutex(Phase.new)

  @usableFromInline override init() { super.init() }

  /// Suspends the task until there is a result. The task, once.
  @usableFromInline
  nonisolated(nonsending) func result() async -> Result<Value, AskError> {
    await withCheckedContinuation { continuation in
      let result = phase.withLock { phase -> Result<Value, AskError>? in
        if case .over(let result) = phase { return result }
        phase = .waiting(continuation)
        return nil
      }
      if let result { continuation.resume(returning: result) }
    }
  }

  @usableFromInline
  override func receive(_ result: Result<Value, AskError>) {
    let before = phase.withLock { phase -> Phase in
      defer { if case .over = phase {} else { phase = .over(result) } }
      return phase
    }
    if case .waiting(let continuation) = before { continuation.resume(returning: result) }
  }
}

/// A closure that is called once, with the first result.
@usableFromInline
final class AskingCallback<Value: Sendable>: ReplyReceiver<Value>, @unchecked Sendable {
  // Unchecked: the asker writes the other fields before another thread knows this object; then only the thread that makes
  // `isOver` true uses them.
  @usableFromInline typealias Callback = @Sendable (Result<Value, AskError>) -> Void

  /// Relaxed: it only decides which result is the first. What the fields contain came with the action, or with the
  /// timeout.
  private let isOver = Atomic(false)
  @exclusivity(unchecked) private var callback: Callback?
  @exclusivity(unchecked) private var timeout: DispatchWorkItem?

  @usableFromInline
  init(_ callback: @escaping Callback) {
    self.callback = callback
    super.init()
  }

  /// Gives up at a deadline. The asker, before it sends.
  @usableFromInline
  func giveUp(at deadline: ContinuousClock.Instant) {
    let timeout = makeTimeout()
    self.timeout = timeout
    Self.schedule(timeout, at: deadline)
  }

  @usableFromInline
  override func receive(_ result: Result<Value, AskError>) {
    if isOver.exchange(true, ordering: .relaxed) { return }
    timeout?.cancel()
    let callback = callback
    self.callback = nil
    callback?(result)
  }
}

extension ReplyReceiver {
  /// Returns what makes the receiver get ``AskError/timedOut``.
  final func makeTimeout() -> DispatchWorkItem { DispatchWorkItem { self.receive(.failure(.timedOut)) } }

  /// Runs a timeout at a deadline, on a thread of Dispatch, unless it is cancelled before.
  static func schedule(_ timeout: DispatchWorkItem, at deadline: ContinuousClock.Instant) {
    DispatchQueue.global().asyncAfter(deadline: deadline.dispatchTime, execute: timeout)
  }
}
