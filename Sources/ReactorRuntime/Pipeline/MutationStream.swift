import ReactorCore
import Synchronization

/// The subscription to a stream that `mutate` returned.
@usableFromInline
final class MutationStream<Action: Sendable>: SingleAssignmentDisposable, @unchecked Sendable {
  // Unchecked: as the superclass; what is added is constant.
  @usableFromInline let action: Action
  @usableFromInline let identity = StreamIdentity()
  /// Made when a mutation first has to wait: most streams end in the turn in which they began.
  private let waiting = AtomicReference<SystemMutex<WaitingMutations>>()
  /// The number of elements of `waiting`; it spares a source that emits on the owner the lock. Relaxed: a stream emits
  /// serially, so the emitting thread knows of what the stream has emitted before.
  private let waitingCount = Atomic(0)

  @usableFromInline
  init(for action: Action) {
    self.action = action
    super.init()
  }

  deinit { waiting.releaseObject() }

  /// Notes that a mutation of this stream has to wait. What the stream emits meanwhile is queued behind it, even where it
  /// could continue at once. The emitting thread.
  @usableFromInline
  func addWaiting() -> WaitingMutation {
    let mutation = WaitingMutation(scopes: SupersedeScope.current(of: identity))
    waitingCount.wrappingAdd(1, ordering: .relaxed)
    let line = waiting.use { $0 } ?? waiting.setIfNil(SystemMutex(WaitingMutations()))
    line.withLock { $0.append(mutation) }
    return mutation
  }

  /// Notes that the mutation no longer waits. Any thread.
  @usableFromInline
  func removeWaiting(_ mutation: WaitingMutation) {
    waiting.use { line in line.withLock { $0.remove(mutation) } }
    waitingCount.wrappingSubtract(1, ordering: .relaxed)
    mutation.releaseSignals()
  }

  /// Whether no mutation that this stream has emitted before must come first. Superseded ones need not. The emitting
  /// thread.
  @usableFromInline
  func isNext(ignoringSupersededBy cause: SupersedeCause) -> Bool {
    waitingCount.load(ordering: .relaxed) == 0
      || waiting.use { line in line.withLock { $0.allSatisfy { $0.isSuperseded(by: cause) } } } != false
  }
}

/// The mutations of a stream that wait, in the order in which they leave the mailbox. Not a `WaitingLine`, since code of another
/// module is not specialised for the element, and each mutation from elsewhere pays for this.
struct WaitingMutations: Sendable {
  /// Nil before `first`, where they have left.
  private var mutations: [WaitingMutation?] = []
  private var first = 0

  mutating func append(_ mutation: WaitingMutation) { mutations.append(mutation) }

  /// Removes one. Nothing is destroyed, since the caller holds it.
  ///
  /// - Complexity: Amortised O(1) for the first and the last one; O(n) for another one.
  mutating func remove(_ mutation: WaitingMutation) {
    if first < mutations.count, mutations[first] === mutation {
      mutations[first] = nil
      first += 1
      removeGoneOnes()
    } else if let index = mutations[first...].lastIndex(where: { $0 === mutation }) {
      // The newest one, if the mailbox has refused it.
      mutations.remove(at: index)
    }
  }

  /// Gives their places free once these are half of all.
  private mutating func removeGoneOnes() {
    if first * 2 < mutations.count { return }
    if first == mutations.count {
      mutations.removeAll(keepingCapacity: first <= 64)
    } else {
      mutations.removeFirst(first)
    }
    first = 0
  }

  func allSatisfy(_ condition: (WaitingMutation) -> Bool) -> Bool {
    mutations[first...].allSatisfy { $0.map(condition) ?? true }
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
