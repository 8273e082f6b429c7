import ReactorCore

/// Makes one sequence of what several threads bring: one input at a time is handled, in the order of arrival.
///
/// Whoever brings an input while none is being handled handles it, and then what others brought meanwhile;
/// the others do not wait. So no lock is held while an observer runs, and an observer may bring further
/// inputs, which come after the running one. Operators with several sources keep what they know in `State`,
/// which only the handler touches.
///
/// Memory is bounded: who brings an input when ``Crowd/limit`` others are waiting sleeps until there are
/// fewer, unless the thread that handles them waits, directly or through others, for the one that brings (see
/// `WaitGraph`).
///
/// Once it is closed it lets go of the state and of what is waiting, and whoever sleeps goes on.
@usableFromInline
final class Serializer<State: Sendable, Input: Sendable>: Disposable {
  private struct Queue: Sendable {
    var waiting: [Input] = []
    /// The token of the thread that handles; 0 if none does. Of a closed one, it stays that of the last.
    var handler: UInt64 = 0
    var isClosed = false
  }

  private let queue = SystemMutex(Queue())
  /// The handler's; nil once that found it closed.
  private let state: OwnerIsolated<State?>
  private let handle: @Sendable (inout State, Input) -> Void

  /// - Parameter handle: Called with one input at a time; may be called on any thread that brings one.
  @usableFromInline
  init(_ state: State, handle: @escaping @Sendable (inout State, Input) -> Void) {
    self.state = OwnerIsolated(state)
    self.handle = handle
  }

  /// Handles an input, or leaves it to the thread that is handling another. Any thread.
  @usableFromInline
  func submit(_ input: Input) {
    let me = CurrentCore.threadToken
    var isHandler = false
    var mustWait = false
    queue.withLock { queue in
      if queue.isClosed { return }
      if queue.handler == 0 {
        queue.handler = me
        isHandler = true
      } else {
        queue.waiting.append(input)
        mustWait = queue.waiting.count > Crowd.limit && queue.handler != me
      }
    }
    if isHandler {
      run(input)
    } else if mustWait {
      waitForRoom(me)
    }
  }

  /// Ignores and forgets what comes from now on and what is waiting. Any thread, also from inside the
  /// handler.
  @usableFromInline
  func dispose() {
    var wasIdle = false
    let forgotten: [Input] = queue.withLock { queue in
      if !queue.isClosed, queue.handler == 0 {
        queue.handler = CurrentCore.threadToken
        wasIdle = true
      }
      queue.isClosed = true
      defer { queue.waiting = [] }
      return queue.waiting
    }
    if forgotten.count > Crowd.limit { Crowd.notify() }
    // Nobody handles from now on; who was handling lets go of the state itself.
    if wasIdle { state.value = nil }
  }

  private func run(_ first: Input) {
    handle(&state.value!, first)
    while true {
      var wasClosed = false
      let batch: [Input] = queue.withLock { queue in
        wasClosed = queue.isClosed
        if queue.waiting.isEmpty, !wasClosed { queue.handler = 0 }
        defer { queue.waiting = [] }
        return queue.waiting
      }
      if wasClosed { state.value = nil }
      if batch.isEmpty { return }
      if batch.count > Crowd.limit { Crowd.notify() }
      for input in batch where !isClosed { handle(&state.value!, input) }
    }
  }

  private var isClosed: Bool { queue.withLock { $0.isClosed } }

  private var hasRoom: Bool {
    queue.withLock { $0.isClosed || $0.handler == 0 || $0.waiting.count <= Crowd.limit }
  }

  private func waitForRoom(_ me: UInt64) {
    Crowd.wait(me, handler: { [self] in queue.withLock { $0.handler } }, hasRoom: { [self] in hasRoom })
  }
}
