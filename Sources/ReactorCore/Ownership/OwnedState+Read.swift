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
  public var wasWithheldCount: Int { raw.wasWithheld }
}
