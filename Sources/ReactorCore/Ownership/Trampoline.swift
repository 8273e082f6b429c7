/// A word that at most one thread owns at a time: "run here if idle, else hand over".
///
/// Unlike with a mutex, no thread ever waits. A thread that finds it busy leaves its work in a mailbox, and the owner
/// checks the mailbox again after it has released the ownership. The state diagram, and the argument why no work is lost
/// in between, are documented in `rr_trampoline.h`. ``OwnedState`` adds the state that is owned.
public struct Trampoline: ~Copyable {
  @usableFromInline let raw: CurrentCore.Trampoline

  /// Creates a trampoline that is idle.
  ///
  /// - Throws: ``CoreError/outOfMemory``.
  @inlinable
  public init() throws(CoreError) {
    raw = try CurrentCore.Trampoline(payload: 0)
    _ = raw.tryInitialize(CurrentCore.threadToken)
    raw.release(slot: 0)
  }

  deinit { raw.destroy() }

  /// Makes the calling thread the owner if the trampoline is idle. Any thread; lock-free.
  @inlinable
  public func tryAcquire() -> Bool { raw.tryAcquire(CurrentCore.threadToken) }

  /// Reserves the ownership if the trampoline is idle. After true, the caller must make sure that one thread calls
  /// ``acquireScheduled()``. Any thread; lock-free.
  @inlinable
  public func trySchedule() -> Bool { raw.trySchedule() }

  /// Makes the calling thread the owner after a ``trySchedule()``. The caller needs a happens-before edge from the thread
  /// that scheduled.
  @inlinable
  public func acquireScheduled() { raw.acquireScheduled(CurrentCore.threadToken) }

  /// Releases the ownership. The owner; it must check the mailbox again afterwards.
  @inlinable
  public func release() {
    assert(isOwner, "only the owner may release the ownership")
    raw.release(slot: 0)
  }

  /// Whether the calling thread is the owner. Any thread.
  @inlinable
  public var isOwner: Bool { raw.isOwner(CurrentCore.threadToken) }
}

extension Trampoline: Sendable {}
