import ReactorCore
import Synchronization

/// The subscription to a stream that `mutate` returned.
@usableFromInline
final class MutationStream<Action: Sendable>: SingleAssignmentDisposable, @unchecked Sendable {
  // Unchecked: as the superclass; what is added is constant.
  @usableFromInline let action: Action
  @usableFromInline let identity = StreamIdentity()
  private let waiting = SystemMutex<[WaitingMutation]>([])
  /// The number of elements of `waiting`; it spares a source that emits on the owner the lock. Relaxed: a stream emits
  /// serially, so the emitting thread knows of what the stream has emitted before.
  private let waitingCount = Atomic(0)

  @usableFromInline
  init(for action: Action) {
    self.action = action
    super.init()
  }

  /// Notes that a mutation of this stream has to wait. What the stream emits meanwhile is queued behind it, even where it
  /// could continue at once. The emitting thread.
  @usableFromInline
  func addWaiting() -> WaitingMutation {
    let mutation = WaitingMutation(scopes: SupersedeScope.current(of: identity))
    waitingCount.wrappingAdd(1, ordering: .relaxed)
    waiting.withLock { $0.append(mutation) }
    return mutation
  }

  /// Notes that the mutation no longer waits. Any thread.
  @usableFromInline
  func removeWaiting(_ mutation: WaitingMutation) {
    waiting.withLock { waiting in
      // Nearly always the first.
      if let index = waiting.firstIndex(where: { $0 === mutation }) { waiting.remove(at: index) }
    }
    waitingCount.wrappingSubtract(1, ordering: .relaxed)
    mutation.releaseSignals()
  }

  /// Whether no mutation that this stream has emitted before must come first. Superseded ones need not. The emitting
  /// thread.
  @usableFromInline
  func isNext(ignoringSupersededBy cause: SupersedeCause) -> Bool {
    waitingCount.load(ordering: .relaxed) == 0
      || waiting.withLock { $0.allSatisfy { $0.isSuperseded(by: cause) } }
  }
}

/// A mutation that waits in the mailbox.
@usableFromInline
final class WaitingMutation: Sendable {
  private let scopes: [SupersedeScope]

  init(scopes: [SupersedeScope]) {
    self.scopes = scopes
    for scope in scopes { scope.retainSignal() }
  }

  /// Ends what the initializer began. Any thread, once.
  func releaseSignals() {
    for scope in scopes { scope.releaseSignal() }
  }

  /// Whether a signal of that cause has superseded this mutation, in a `take(until:)` that it has passed. Any thread.
  @usableFromInline
  func isSuperseded(by cause: SupersedeCause) -> Bool {
    scopes.contains { $0.isSuperseded(by: cause) }
  }
}
