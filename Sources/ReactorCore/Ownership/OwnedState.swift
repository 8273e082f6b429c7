/// A state that one thread at a time changes, and any thread reads whole without waiting for it.
///
/// The state lives in slots. One slot is shown to readers, who read it there. The owner's first change copies
/// the shown slot to a free one and goes on there, in place; leaving, or ``publish()``, shows that slot
/// instead, in one atomic exchange with the ownership itself. Readers pin the slot they read; the argument
/// why nobody sees a torn state stands in `rr_pins.h`, and how frequent readers do it for next to nothing in
/// `rr_readers.h`.
///
/// Nobody waits for anybody. If readers pin all slots, the owner goes on in one of its own, and what it
/// changes is shown as soon as it finds a slot free when it publishes or leaves; until then readers see an
/// older state. It takes seven readers, each still inside a read of another earlier state.
///
/// One earlier state stays alive until it is overwritten, and each that is pinned, at most seven
/// (``wasHeldCount``), until the first change after it was unpinned. A thread that reads often keeps the state
/// pinned that it read last, until it reads again, ends, or the owner needs the slot. A state made of values
/// with shared storage (arrays, dictionaries, strings) shares that storage with the slot it was copied from,
/// so the first change of a turn copies what it changes.
///
/// What there may be a million of is small: one block of 176 bytes for a state of up to 16 bytes.
public struct OwnedState<State: Sendable>: ~Copyable {
  @usableFromInline let raw: CurrentCore.Trampoline

  /// Makes an owned state that has not started: it holds no state yet, and nobody can enter.
  ///
  /// - Throws: ``CoreError/outOfMemory``.
  @inlinable
  public init() throws(CoreError) {
    raw = try CurrentCore.Trampoline(payload: StatePlaces<State>.payload)
    StatePlaces<State>.prepare(raw.memory)
  }

  deinit {
    StatePlaces<State>.destroy(in: raw.memory)
    raw.destroy()
  }

  /// What only the owner touches.
  @inlinable
  @inline(__always)
  var owner: UnsafeMutablePointer<OwnerFields> { StatePlaces<State>.owner(in: raw.memory) }

  /// Likewise; what it needs to find a slot and to show it.
  @inlinable
  @inline(__always)
  var slots: UnsafeMutablePointer<SlotFields> { StatePlaces<State>.slots(in: raw.memory) }

  /// Where the state of a slot is.
  @inlinable
  @inline(__always)
  func place(of slot: Int) -> UnsafeMutablePointer<State> {
    StatePlaces<State>.place(of: slot, in: raw.memory)
  }
}

// Unchecked: the slot that is not shown and the owner's fields are touched by the owner only, of which the
// trampoline makes one at a time with a happens-before edge between two; a slot is pinned while read.
extension OwnedState: @unchecked Sendable {}

extension OwnedState {
  /// Makes the calling thread the owner of a state that has not started, and starts it with what `initial`
  /// answers; false if another thread was first. Any thread.
  public func tryInitialize(with initial: () -> State) -> Bool {
    guard raw.tryInitialize(CurrentCore.threadToken) else { return false }
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
  public func tryAcquire() -> Bool { raw.tryAcquire(CurrentCore.threadToken) }

  /// Reserves the ownership, if nobody has it, and obliges the caller, if that succeeded, to see to it that
  /// somebody calls ``acquireScheduled()``. Any thread; lock-free.
  @inlinable
  public func trySchedule() -> Bool { raw.trySchedule() }

  /// Makes the calling thread the owner of what was scheduled, with a happens-before edge from the thread
  /// that did.
  @inlinable
  public func acquireScheduled() { raw.acquireScheduled(CurrentCore.threadToken) }

  /// Whether the calling thread is the owner. Any thread.
  @inlinable
  public var isOwner: Bool { raw.isOwner(CurrentCore.threadToken) }

  /// Whether somebody was the owner a moment ago, or it was scheduled. Any thread. This look and the one at
  /// the mailbox after ``release()`` do not both miss; see `rr_trampoline.h`.
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
    if owner.pointee.isShown { copyToSpareSlot() }
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

extension OwnedState {
  /// A whole state, or nil before the start. Any thread; never waits for the owner.
  ///
  /// The owner itself sees its own changes at once; inside ``replace(_:)`` the state before it; inside
  /// ``change(_:)``, while the state is in pieces, what is shown to readers: what the last turn left, or
  /// published on its way.
  ///
  /// - Complexity: one copy of the state; before it, the pin is repeated if a newer snapshot came in between.
  @inlinable
  public func read() -> State? { withValue { copy $0 } }

  /// Calls `body` with a whole state, which is not copied; answers nil before the start, without calling it.
  /// Any thread; never waits for the owner. Which state it is: see ``read()``.
  ///
  /// For as long as `body` runs, the owner makes its changes elsewhere, so the state stays alive and as it
  /// is. `body` may read again, and may do anything else; but what it was given must not escape from it.
  ///
  /// - Complexity: O(1), apart from `body`; the pin is repeated if a newer snapshot came in between.
  @inlinable
  @inline(__always)
  public func withValue<Result: ~Copyable, E: Error>(
    _ body: (borrowing State) throws(E) -> Result
  ) throws(E) -> Result? {
    if raw.isOwner(CurrentCore.threadToken) { return try withValueAsOwner(body) }
    let pin = raw.pinShown()
    if pin.slot < 0 { return nil }
    defer { raw.unpin(pin) }
    return try body(place(of: pin.slot).pointee)
  }

  @inlinable
  @inline(never)
  func withValueAsOwner<Result: ~Copyable, E: Error>(
    _ body: (borrowing State) throws(E) -> Result
  ) throws(E) -> Result? {
    let owner = owner
    // Inside `initial` of the start there is none yet.
    guard slots.pointee.initialized != 0 else { return nil }
    let change = owner.pointee.change
    if change == .inPlace { return try body(slots.pointee.sparePlace.state(State.self).pointee) }
    // What `body` does must not change the state that it reads; see `isChanging`.
    owner.pointee.change = .byValue
    defer { owner.pointee.change = change }
    return try body(owner.pointee.place.state(State.self).pointee)
  }

  /// How many earlier states are alive because somebody pinned them: is reading them, or kept them from its
  /// last read. At most seven. Any thread.
  public var wasHeldCount: Int {
    let shown = raw.slot
    var count = 0
    for slot in 0..<snapshotSlotCount where slot != shown && !raw.isFree(slot: slot) { count += 1 }
    return count
  }

  /// How often the owner could not show its changes, because readers pinned every slot. Any thread.
  public var wasDeferredCount: Int { raw.wasDeferred }
}
