extension OwnedStateOn {
  /// A whole state, or nil before the start. Any thread; never waits for the owner.
  ///
  /// The owner itself gets the live state, so it sees its own changes at once; but inside
  /// ``change(_:)``, while the live state is in pieces, the newest snapshot. Everybody else gets the newest
  /// snapshot: what the last turn left, or published on its way.
  ///
  /// - Complexity: one copy of the state; repeated if a newer snapshot comes in between.
  @inlinable
  public func read() -> State? {
    if raw.isOwner(C.threadToken) { return readAsOwner() }
    while true {
      let slot = raw.slot
      if slot < 0 { return nil }
      raw.pin(slot: slot)
      // Pinned too late if the word names another slot by now: the owner may be writing this one.
      let isStillShown = raw.slot == slot
      let state = isStillShown ? snapshots[slot] : nil
      raw.unpin(slot: slot)
      if let state { return state }
    }
  }

  @usableFromInline
  @inline(never)
  func readAsOwner() -> State? {
    // Inside `initial` of the start there is none yet.
    guard owner.pointee.initialized != 0 else { return nil }
    return owner.pointee.isChanging ? snapshots[owner.pointee.slot] : live.pointee
  }
}
