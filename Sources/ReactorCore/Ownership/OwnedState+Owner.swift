extension OwnedState {
  /// Makes the calling thread the owner of a state that has not started, and starts it with what `initial`
  /// answers; false if another thread was first. Any thread.
  public func tryStart(with initial: () -> State) -> Bool {
    guard raw.tryStart(CurrentCore.threadToken) else { return false }
    let state = initial()
    let (owner, place) = (owner, StatePlaces<State>.placeOrNew(of: 0, in: raw.memory))
    place.initialize(to: state)
    owner.pointee.place = place.raw
    slots.pointee.initialized = 1
    raw.publish(CurrentCore.threadToken, slot: 0)
    return true
  }

  /// Makes the calling thread the owner, if the state has started and nobody is. Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func tryEnter() -> Bool { raw.tryEnter(CurrentCore.threadToken) }

  /// Reserves the ownership, if nobody has it, and obliges the caller, if that succeeded, to see to it that
  /// somebody calls ``begin()``. Any thread; lock-free.
  @inlinable
  public func trySchedule() -> Bool { raw.trySchedule() }

  /// Makes the calling thread the owner of what was scheduled, with a happens-before edge from the thread
  /// that did.
  @inlinable
  public func begin() { raw.begin(CurrentCore.threadToken) }

  /// Whether the calling thread is the owner. Any thread.
  @inlinable
  public var isOwner: Bool { raw.isOwner(CurrentCore.threadToken) }

  /// Whether somebody was the owner a moment ago, or it was scheduled. Any thread. This look and the one at
  /// the mailbox after ``leave()`` do not both miss; see `rr_trampoline.h`.
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
    let owner = owner
    if owner.pointee.isShown { copyToFreeSlot() }
    owner.pointee.change = .inPlace
    body(&owner.pointee.place.state(State.self).pointee)
    owner.pointee.change = .none
  }

  /// Makes a new state of the one before, which the owner still reads while `body` runs. The owner, not from
  /// inside a change.
  @unsafe
  @inlinable
  @inline(__always)
  public func replace(_ body: (State) -> State) {
    assert(isOwner, "only the owner may change the state")
    let owner = owner
    owner.pointee.change = .byValue
    let state = body(owner.pointee.place.state(State.self).pointee)
    owner.pointee.change = .none
    if !owner.pointee.isShown || !goToSpareSlot({ $0.pointee = state }) {
      if owner.pointee.isShown { copyToOtherSlot() }
      owner.pointee.place.state(State.self).pointee = state
    }
  }

  /// Whether the owner is inside ``change(_:)``, ``replace(_:)`` or ``withValue(_:)``, so that it must not
  /// change the state now. The owner.
  @unsafe
  @inlinable
  public var isChanging: Bool { owner.pointee.change != .none }

  /// The state with the owner's changes. The owner, not from inside a change.
  @unsafe
  @inlinable
  public var current: State { owner.pointee.place.state(State.self).pointee }
}
