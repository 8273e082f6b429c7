import ReactorCore
import Synchronization

/// A stream that `mutate` answered, while it is subscribed to.
@usableFromInline
final class MutationStream<Action: Sendable>: SingleAssignmentDisposable, @unchecked Sendable {
  // Unchecked: as the class above; what is added is constant.
  @usableFromInline let action: Action
  @usableFromInline let identity = StreamIdentity()
  private let waiting = SystemMutex<[WaitingMutation]>([])
  /// How many there are in `waiting`; spares who emits on the owner the lock. Relaxed: a stream sends one
  /// after the other, so who sends knows of what it has sent before.
  private let waitingCount = Atomic(0)

  @usableFromInline
  init(for action: Action) {
    self.action = action
    super.init()
  }

  /// Something that it has sent has to wait: what it sends meanwhile comes after that, also where it could go
  /// on at once. Where it is sent.
  @usableFromInline
  func wait() -> WaitingMutation {
    let mutation = WaitingMutation(scopes: SupersedeScope.current(of: identity))
    waitingCount.wrappingAdd(1, ordering: .relaxed)
    waiting.withLock { $0.append(mutation) }
    return mutation
  }

  /// It waits no longer. Any thread.
  @usableFromInline
  func goOn(_ mutation: WaitingMutation) {
    waiting.withLock { waiting in
      // Nearly always the first.
      if let index = waiting.firstIndex(where: { $0 === mutation }) { waiting.remove(at: index) }
    }
    waitingCount.wrappingSubtract(1, ordering: .relaxed)
    mutation.goOn()
  }

  /// Whether nothing that it has sent before has to come first. Where it sends.
  @usableFromInline
  func isNext(after announcement: SupersedeCause) -> Bool {
    waitingCount.load(ordering: .relaxed) == 0
      || waiting.withLock { $0.allSatisfy { $0.isVoid(after: announcement) } }
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

  /// It waits no longer. Any thread, once.
  func goOn() {
    for scope in scopes { scope.releaseSignal() }
  }

  /// Whether an action of that reactor has ended what it came through. Any thread.
  @usableFromInline
  func isVoid(after announcement: SupersedeCause) -> Bool {
    scopes.contains { $0.isSuperseded(by: announcement) }
  }
}
