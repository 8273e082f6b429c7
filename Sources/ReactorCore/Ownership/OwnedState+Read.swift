extension OwnedStateOn {
  /// A whole state, or nil before the start. Any thread; never waits for the owner.
  ///
  /// The owner itself sees its own changes at once; inside ``replace(_:)`` the state before it; inside
  /// ``change(_:)``, while the state is in pieces, what is shown to readers: what the last turn left, or
  /// published on its way.
  ///
  /// - Complexity: one copy of the state; before it, the pin is repeated if a newer snapshot came in between.
  @inlinable
  public func read() -> State? {
    if raw.isOwner(C.threadToken) { return readAsOwner() }
    while true {
      let slot = raw.slot
      if slot < 0 { return nil }
      raw.pin(slot: slot)
      // Pinned too late if the word names another slot by now: the owner may be writing this one.
      let isStillShown = raw.slot == slot
      let state = isStillShown ? slots[slot] : nil
      raw.unpin(slot: slot)
      if let state { return state }
    }
  }

  @usableFromInline
  @inline(never)
  func readAsOwner() -> State? {
    // Inside `initial` of the start there is none yet.
    guard owner.pointee.initialized != 0 else { return nil }
    return slots[owner.pointee.change == .inPlace ? owner.pointee.shown : owner.pointee.current]
  }
}
