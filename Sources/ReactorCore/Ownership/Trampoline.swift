/// "Run here if idle, else hand over": a word that at most one thread owns.
///
/// Unlike a mutex it never makes anybody wait: who finds it busy leaves the work in a mailbox, and the
/// owner looks there after it left. The state diagram, and why no work is forgotten in between, stand in
/// `rr_trampoline.h`; ``OwnedState`` adds the state that is owned.
public struct Trampoline: ~Copyable {
  @usableFromInline let raw: CurrentCore.Trampoline

  /// Makes a trampoline that is idle.
  ///
  /// - Throws: ``CoreError/outOfMemory``.
  @inlinable
  public init() throws(CoreError) {
    raw = try CurrentCore.Trampoline(payload: 0)
    _ = raw.tryInitialize(CurrentCore.threadToken)
    raw.release(slot: 0)
  }

  deinit { raw.destroy() }

  /// Makes the calling thread the owner, if nobody is. Any thread; lock-free.
  @inlinable
  public func tryAcquire() -> Bool { raw.tryAcquire(CurrentCore.threadToken) }

  /// Reserves the ownership, if nobody has it, and obliges the caller, if that succeeded, to see to it that
  /// somebody calls ``acquireScheduled()``. Any thread; lock-free.
  @inlinable
  public func trySchedule() -> Bool { raw.trySchedule() }

  /// Makes the calling thread the owner of what was scheduled, with a happens-before edge from the thread that
  /// did.
  @inlinable
  public func acquireScheduled() { raw.acquireScheduled(CurrentCore.threadToken) }

  /// Gives the ownership up. The owner only. Look at the mailbox again afterwards.
  @inlinable
  public func release() {
    assert(isOwner, "only the owner may leave")
    raw.release(slot: 0)
  }

  /// Whether the calling thread is the owner. Any thread.
  @inlinable
  public var isOwner: Bool { raw.isOwner(CurrentCore.threadToken) }

  /// Whether nobody was the owner a moment ago, and nothing was scheduled. Any thread.
  @inlinable
  public var wasIdle: Bool { raw.wasOwner == 0 }
}

extension Trampoline: Sendable {}
