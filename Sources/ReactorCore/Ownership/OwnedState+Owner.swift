#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension OwnedStateOn {
  /// Makes the calling thread the owner of a state that has not started, and starts it with what `initial`
  /// answers; false if another thread was first. Any thread.
  public func tryStart(with initial: () -> State) -> Bool {
    guard raw.tryStart(C.threadToken) else { return false }
    let state = initial()
    live.initialize(to: state)
    snapshots.initialize(to: state)
    owner.pointee.initialized = 1
    raw.publish(C.threadToken, slot: 0)
    return true
  }

  /// Makes the calling thread the owner, if the state has started and nobody is. Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func tryEnter() -> Bool { raw.tryEnter(C.threadToken) }

  /// Makes nobody the owner, and obliges the caller, if that succeeded, to see to it that somebody calls
  /// ``begin()``. Any thread; lock-free.
  @inlinable
  public func trySchedule() -> Bool { raw.trySchedule() }

  /// Makes the calling thread the owner of what was scheduled, with a happens-before edge from the thread
  /// that did.
  @inlinable
  public func begin() { raw.begin(C.threadToken) }

  /// Whether the calling thread is the owner. Any thread.
  @inlinable
  public var isOwner: Bool { raw.isOwner(C.threadToken) }

  /// Whether it has started and nobody was the owner a moment ago. Any thread. This look and the one at
  /// the mailbox after ``leave()`` do not both miss; see `rr_trampoline.h`.
  @inlinable
  public var wasIdle: Bool { raw.wasIdle }

  /// Whether somebody was the owner a moment ago, or it was scheduled. Any thread.
  @inlinable
  public var wasBusy: Bool { raw.wasOwner != 0 }

  /// The token (``Core/threadToken``) of who was the owner a moment ago; no thread's if nobody was. Any
  /// thread.
  @inlinable
  public var wasOwner: UInt64 { raw.wasOwner }

  /// Whether there is a state. Any thread.
  @inlinable
  public var hasStarted: Bool { raw.slot >= 0 }

  /// Changes the live state in place. The owner, not from inside another change.
  @inlinable
  @inline(__always)
  public func change(_ body: (inout State) -> Void) {
    assert(isOwner, "only the owner may change the state")
    // Reached through the pointer each time: a copy of the fields held across `body` would be stale.
    owner.pointee.isChanging = true
    body(&live.pointee)
    owner.pointee.isChanging = false
    owner.pointee.hasChanged = true
  }

  /// Shows what changed to readers and stays the owner. The owner.
  @inlinable
  public func publish() {
    guard owner.pointee.hasChanged else { return }
    raw.publish(C.threadToken, slot: storeSnapshot())
  }

  /// Shows what changed to readers and gives the ownership up. The owner. Look at the mailbox again
  /// afterwards.
  @inlinable
  @inline(__always)
  public func leave() {
    assert(isOwner, "only the owner may leave")
    raw.leave(slot: owner.pointee.hasChanged ? storeSnapshot() : owner.pointee.slot)
  }

  /// Copies the live state into a slot that nobody reads, and answers which.
  @inlinable
  @inline(__always)
  func storeSnapshot() -> Int {
    let slot = freeSlot()
    let bit = 1 << slot
    if owner.pointee.initialized & bit != 0 {
      snapshots[slot] = live.pointee
    } else {
      (snapshots + slot).initialize(to: live.pointee)
      owner.pointee.initialized |= bit
    }
    owner.pointee.slot = slot
    owner.pointee.hasChanged = false
    return slot
  }

  /// Normally one of the first two slots: the one that is not shown.
  @inlinable
  @inline(__always)
  func freeSlot() -> Int {
    let slot = owner.pointee.slot == 0 ? 1 : 0
    return raw.isFree(slot: slot) ? slot : searchFreeSlot()
  }

  @usableFromInline
  @inline(never)
  func searchFreeSlot() -> Int {
    while true {
      for slot in 0..<snapshotSlotCount where slot != owner.pointee.slot && raw.isFree(slot: slot) {
        return slot
      }
      // Every other slot is pinned by a reader that was suspended in the middle of its copy.
      sched_yield()
    }
  }
}
