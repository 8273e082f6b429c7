@preconcurrency import Dispatch
import ReactorCore

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
  // Unchecked like its superclass: everything that changes is under the lock.
  @usableFromInline typealias Callback = @Sendable (Result<Value, AskError>) -> Void

  private struct Fields: Sendable {
    var callback: Callback?
    var timeout: DispatchWorkItem?
  }

  private let fields: SystemMutex<Fields>

  @usableFromInline
  init(_ callback: @escaping Callback) {
    fields = SystemMutex(Fields(callback: callback))
    super.init()
  }

  /// Gives up at a deadline. The asker, before it sends.
  @usableFromInline
  func giveUp(at deadline: ContinuousClock.Instant) {
    let timeout = self.timeout(at: deadline)
    fields.withLock { $0.timeout = timeout }
  }

  @usableFromInline
  override func receive(_ result: Result<Value, AskError>) {
    let taken = fields.withLock { fields in
      defer { fields = Fields() }
      return fields
    }
    taken.timeout?.cancel()
    taken.callback?(result)
  }
}

extension ReplyReceiver {
  /// Makes the receiver get ``AskError/timedOut`` at a deadline, on a thread of Dispatch. Returns what cancels that.
  final func timeout(at deadline: ContinuousClock.Instant) -> DispatchWorkItem {
    let left = max(.zero, ContinuousClock.now.duration(to: deadline))
    let item = DispatchWorkItem { self.receive(.failure(.timedOut)) }
    DispatchQueue.global().asyncAfter(
      deadline: DispatchTime.now() + left.dispatchInterval(atLeast: 0), execute: item)
    return item
  }
}
