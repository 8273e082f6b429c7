/// How the owner finds a slot for its changes, and how it shows them.
extension OwnedState {
  /// Shows what changed to readers and stays the owner. The owner.
  @unsafe
  @inlinable
  public func publish() {
    if owner.pointee.isShown || !markPublished() { return }
    raw.publish(CurrentCore.threadToken, slot: Int(slots.pointee.shown))
  }

  /// Shows what changed to readers and gives the ownership up. The owner. Look at the mailbox again
  /// afterwards.
  @unsafe
  @inlinable
  @inline(__always)
  public func release() {
    assert(isOwner, "only the owner may leave")
    _ = markPublished()
    raw.release(slot: Int(slots.pointee.shown))
  }

  /// Shows what changed to readers and gives the ownership back to the schedule: somebody must call
  /// ``acquireScheduled()`` again. The owner.
  @unsafe
  public func reschedule() {
    assert(isOwner, "only the owner may give the ownership back")
    _ = markPublished()
    raw.publish(scheduledToken, slot: Int(slots.pointee.shown))
  }

  /// Makes what changed the slot to be shown. False if there is none: then the next publishing, by whoever is
  /// the owner then, tries again.
  @inlinable
  @inline(__always)
  func markPublished() -> Bool {
    let (owner, slots) = (owner, slots)
    if slots.pointee.current == privateSlot, !tryMoveOutOfPrivateSlot() { return false }
    slots.pointee.shown = slots.pointee.current
    owner.pointee.isShown = true
    return true
  }

  /// The owner goes on in a slot that nobody sees. Its source was written in an earlier turn; copying it now
  /// rather than copying the change afterwards is what keeps the copy off the processor's critical path.
  @inlinable
  @inline(__always)
  func copyToSpareSlot() {
    let source = owner.pointee.place.state(State.self)
    if !goToSpareSlot({ $0.pointee = source.pointee }) { copyToOtherSlot() }
  }

  /// The usual way: makes the spare slot the current one, with a state that `write` writes there; false if
  /// that is not possible.
  @inlinable
  @inline(__always)
  func goToSpareSlot(_ write: (UnsafeMutablePointer<State>) -> Void) -> Bool {
    let (owner, slots) = (owner, slots)
    let (spare, place) = (slots.pointee.spare, slots.pointee.sparePlace)
    if !slots.pointee.isUsual || !raw.isFree(slot: Int(spare)) { return false }
    // Before the writing, which destroys an earlier state: that may change this one, and come here itself.
    let (shown, shownPlace) = (slots.pointee.shown, owner.pointee.place)
    write(place.state(State.self))
    slots.pointee.spare = shown
    slots.pointee.sparePlace = shownPlace
    slots.pointee.current = spare
    owner.pointee.place = place
    owner.pointee.isShown = false
    return true
  }

  /// The first time, and while there are readers: likewise, in any slot, with a copy of the shown state.
  @inlinable
  @inline(never)
  func copyToOtherSlot() {
    let (owner, slots) = (owner, slots)
    destroyOthers()
    let slot = freeSlot()
    let source = owner.pointee.place
    let place = StatePlaces<State>.placeOrNew(of: Int(slot), in: raw.memory)
    let bit: UInt16 = 1 &<< UInt16(slot)
    if slots.pointee.initialized & bit != 0 {
      place.pointee = source.state(State.self).pointee
    } else {
      place.initialize(to: source.state(State.self).pointee)
      slots.pointee.initialized |= bit
    }
    let shown = slots.pointee.shown
    slots.pointee.spare = shown
    slots.pointee.sparePlace = source
    slots.pointee.current = slot
    slots.pointee.isUsual =
      slots.pointee.initialized == bit | 1 &<< UInt16(shown)
      && (!slots.pointee.hasReaders || min(slot, shown) >= 2)
    owner.pointee.place = place.raw
    owner.pointee.isShown = false
  }

  /// A slot that readers would find, or else the owner's own. Once there have been readers who stay, those come
  /// first that have lines of their own.
  @inlinable
  func freeSlot() -> UInt8 {
    let (slots, count) = (slots, UInt8(snapshotSlotCount))
    if slots.pointee.initialized & ~3 == 0, slots.pointee.shown < 2, !slots.pointee.hasReaders {
      let slot = 1 - slots.pointee.shown
      if raw.isFree(slot: Int(slot)) { return slot }
    }
    slots.pointee.hasReaders = true
    for step in 2..<count + 2 {
      let slot = step % count
      if slot != slots.pointee.shown, raw.isFree(slot: Int(slot)) { return slot }
    }
    return privateSlot
  }

  /// Brings the state in the owner's own slot to one that readers find; false if there is none. Runs no code
  /// of the state's: what was in that slot is destroyed by a later change.
  @inlinable
  @inline(never)
  func tryMoveOutOfPrivateSlot() -> Bool {
    let (owner, slots) = (owner, slots)
    assert(owner.pointee.change == .none, "the state is shown while it is changed or read")
    var slot = freeSlot()
    // If this does not help, readers are inside of their reads, and asking them again has time.
    let asks = slots.pointee.failures & (slots.pointee.failures &- 1) == 0
    if slot == privateSlot, asks, raw.revokeKeptPins() { slot = freeSlot() }
    if slot == privateSlot {
      slots.pointee.failures &+= 1
      raw.noteDeferred()
      return false
    }
    slots.pointee.failures = 0
    let mine = place(of: Int(privateSlot))
    let place = StatePlaces<State>.placeOrNew(of: Int(slot), in: raw.memory)
    let bit: UInt16 = 1 << UInt16(slot)
    if slots.pointee.initialized & bit != 0 {
      let earlier = place.move()
      place.moveInitialize(from: mine, count: 1)
      mine.initialize(to: earlier)
    } else {
      place.moveInitialize(from: mine, count: 1)
      slots.pointee.initialized = slots.pointee.initialized & ~(1 << UInt16(privateSlot)) | bit
    }
    slots.pointee.current = slot
    owner.pointee.place = place.raw
    return true
  }

  /// Destroys earlier states that readers have unpinned. Not when leaving: what this runs may send actions to
  /// the owner itself, which looks for them before it leaves.
  @inlinable
  func destroyOthers() {
    let slots = slots
    for slot in 0...privateSlot {
      let bit: UInt16 = 1 << UInt16(slot)
      if slots.pointee.initialized & bit == 0 { continue }
      if slot == slots.pointee.shown || slot == slots.pointee.current { continue }
      if slot != privateSlot, !raw.isFree(slot: Int(slot)) { continue }
      slots.pointee.initialized &= ~bit
      _ = place(of: Int(slot)).move()
    }
  }
}
