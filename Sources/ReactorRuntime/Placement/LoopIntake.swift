import ReactorCore
import Synchronization

/// Runtimes on their way to a loop: each at most once, as many as there are.
///
/// Normally they go through a ring. What does not fit there is kept beside it under a lock, so that nobody
/// waits for the loop: it may be busy with a long turn, or it may be the caller.
@usableFromInline
struct LoopIntake<C: Core>: ~Copyable, Sendable {
  @usableFromInline let ring: RingOn<C, Scheduled>
  @usableFromInline let wake: EventCountOn<C>
  private let overflow = SystemMutex<[Scheduled]>([])
  /// Whether `overflow` may hold something; spares the loop the lock.
  @usableFromInline let hasOverflow = Atomic(false)

  @usableFromInline
  init() throws(CoreError) {
    let ring = try RingOn<C, Scheduled>(capacity: 1024)
    wake = try EventCountOn()
    self.ring = ring
  }

  /// Takes a runtime in and wakes the loop; false once it is closed. Any thread; waits for nobody but for
  /// another that finds the ring full at the same moment.
  @usableFromInline
  func submit(_ scheduled: Scheduled) -> Bool {
    switch ring.trySend(scheduled) {
    case .closed: return false
    case .full: if !submitToOverflow(scheduled) { return false }
    case .accepted: break
    }
    wake.notify()
    return true
  }

  /// Takes in what the loop's own thread scheduled, from inside a turn; closed or not. The loop.
  @usableFromInline
  func submitHere(_ scheduled: Scheduled) { _ = submitToOverflow(scheduled, ifOpen: false) }

  private func submitToOverflow(_ scheduled: Scheduled, ifOpen: Bool = true) -> Bool {
    overflow.withLock { overflow in
      // Under the lock: who finds the intake closed and then takes the lock sees all that got in before.
      if ifOpen, ring.isClosed { return false }
      overflow.append(scheduled)
      hasOverflow.store(true, ordering: .relaxed)
      return true
    }
  }

  /// Refuses what comes from now on. Any thread.
  @usableFromInline
  func close() {
    ring.close()
    wake.notify()
  }

  /// Hands out what is there. The loop.
  @inlinable
  func drain(_ body: (Scheduled) -> Void) {
    _ = ring.drain { body($0) }
    if hasOverflow.load(ordering: .relaxed) {
      for scheduled in takeOverflow() { body(scheduled) }
    }
  }

  @usableFromInline
  func takeOverflow() -> [Scheduled] {
    overflow.withLock { overflow in
      hasOverflow.store(false, ordering: .relaxed)
      defer { overflow = [] }
      return overflow
    }
  }

  /// Whether it is closed and nothing will come any more. The loop.
  @inlinable
  var isExhausted: Bool { ring.isClosed && ring.isEmpty && overflowIsEmpty }

  @usableFromInline var overflowIsEmpty: Bool { overflow.withLock { $0.isEmpty } }

  /// Sleeps until something comes, or it is closed. The loop.
  @inlinable
  func wait() {
    _ = wake.wait { ring.isReady || ring.isClosed || hasOverflow.load(ordering: .relaxed) }
  }
}
