import Glibc

extension OwnedStateOn {
  /// Makes the calling thread the owner of a state that has not started, and starts it with what `initial`
  /// answers; false if another thread was first. Any thread.
  public func tryStart(with initial: () -> State) -> Bool {
    guard raw.tryStart(C.threadToken) else { return false }
    slots.initialize(to: initial())
    owner.pointee.initialized = 1
    raw.publish(C.threadToken, slot: 0)
    return true
  }

  /// Makes the calling thread the owner, if the state has started and nobody is. Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func tryEnter() -> Bool { raw.tryEnter(C.threadToken) }

  /// Reserves the ownership, if nobody has it, and obliges the caller, if that succeeded, to see to it that
  /// somebody calls ``begin()``. Any thread; lock-free.
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

  /// Changes the state in place. The owner, not from inside another change.
  @unsafe
  @inlinable
  @inline(__always)
  public func change(_ body: (inout State) -> Void) {
    assert(isOwner, "only the owner may change the state")
    // To ThreadSanitizer a change through a stored pointer is one of the variable that holds the pointer,
    // which readers read.
    let (slots, owner) = (slots, owner)
    if owner.pointee.current == owner.pointee.shown { copyToFreeSlot() }
    owner.pointee.change = .inPlace
    body(&(slots + owner.pointee.current).pointee)
    owner.pointee.change = .none
  }

  /// Makes a new state of the one before, which the owner still reads while `body` runs. The owner, not from
  /// inside a change.
  @unsafe
  @inlinable
  @inline(__always)
  public func replace(_ body: (State) -> State) {
    assert(isOwner, "only the owner may change the state")
    let (slots, owner) = (slots, owner)
    owner.pointee.change = .byValue
    let state = body(slots[owner.pointee.current])
    owner.pointee.change = .none
    if owner.pointee.current == owner.pointee.shown {
      initializeFreeSlot(to: state)
    } else {
      slots[owner.pointee.current] = state
    }
  }

  /// Whether the owner is inside ``change(_:)`` or ``replace(_:)``. The owner.
  @unsafe
  @inlinable
  public var isChanging: Bool { owner.pointee.change != .none }

  /// The state with the owner's changes. The owner, not from inside a change.
  @unsafe
  @inlinable
  public var current: State { slots[owner.pointee.current] }

  /// Shows what changed to readers and stays the owner. The owner.
  @unsafe
  @inlinable
  public func publish() {
    if owner.pointee.current == owner.pointee.shown { return }
    owner.pointee.shown = owner.pointee.current
    raw.publish(C.threadToken, slot: owner.pointee.shown)
  }

  /// Shows what changed to readers and gives the ownership up. The owner. Look at the mailbox again
  /// afterwards.
  @unsafe
  @inlinable
  @inline(__always)
  public func leave() {
    assert(isOwner, "only the owner may leave")
    let slot = owner.pointee.current
    owner.pointee.shown = slot
    raw.leave(slot: slot)
  }

  /// Shows what changed to readers and gives the ownership back to the schedule: somebody must call
  /// ``begin()`` again. The owner.
  @unsafe
  public func reschedule() {
    assert(isOwner, "only the owner may give the ownership back")
    owner.pointee.shown = owner.pointee.current
    raw.publish(scheduledToken, slot: owner.pointee.shown)
  }

  /// The owner goes on in a slot that nobody sees. Its source was written in an earlier turn; copying it now
  /// rather than copying the change afterwards is what keeps the copy off the processor's critical path.
  @inlinable
  @inline(__always)
  func copyToFreeSlot() { initializeFreeSlot(to: slots[owner.pointee.shown]) }

  @inlinable
  @inline(__always)
  func initializeFreeSlot(to state: State) {
    let (slots, owner) = (slots, owner)
    let slot = freeSlot()
    let bit = 1 &<< slot
    if owner.pointee.initialized & bit != 0 {
      slots[slot] = state
    } else {
      (slots + slot).initialize(to: state)
      owner.pointee.initialized |= bit
    }
    owner.pointee.current = slot
  }

  /// Normally one of the first two slots: the one that is not shown.
  @inlinable
  @inline(__always)
  func freeSlot() -> Int {
    let slot = owner.pointee.shown == 0 ? 1 : 0
    return raw.isFree(slot: slot) ? slot : searchFreeSlot()
  }

  @usableFromInline
  @inline(never)
  func searchFreeSlot() -> Int {
    while true {
      for slot in 0..<snapshotSlotCount where slot != owner.pointee.shown && raw.isFree(slot: slot) {
        return slot
      }
      // Every other slot is pinned by a reader that was suspended in the middle of its copy.
      sched_yield()
    }
  }
}
