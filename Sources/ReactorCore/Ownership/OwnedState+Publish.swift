/// The owner's search for a slot for its changes, and their publication.
extension OwnedState {
  /// Publishes the owner's changes and keeps the ownership. The owner.
  @unsafe
  @inlinable
  public func publish() {
    if owner.pointee.isPublished || !markPublished() { return }
    raw.publish(CurrentCore.threadToken, slot: Int(slots.pointee.published))
  }

  /// Publishes the owner's changes and releases the ownership. The owner; it must check the mailbox again afterwards.
  @unsafe
  @inlinable
  @inline(__always)
  public func release() {
    assert(isOwner, "only the owner may release the ownership")
    _ = markPublished()
    raw.release(slot: Int(slots.pointee.published))
  }

  /// Publishes the owner's changes and turns the ownership into a reservation: the caller must make sure that one thread
  /// calls ``acquireScheduled()``. The owner.
  @unsafe
  public func reschedule() {
    assert(isOwner, "only the owner may reschedule")
    _ = markPublished()
    raw.publish(scheduledToken, slot: Int(slots.pointee.published))
  }

  /// Marks the slot with the owner's changes as the published one; the caller then stores its number in the word. Returns
  /// false if the changes are in the private slot and no other slot is free: the next publication, by the owner at that
  /// time, tries again.
  @inlinable
  @inline(__always)
  func markPublished() -> Bool {
    let (owner, slots) = (owner, slots)
    if slots.pointee.current == privateSlot, !tryMoveOutOfPrivateSlot() { return false }
    slots.pointee.published = slots.pointee.current
    owner.pointee.isPublished = true
    return true
  }

  /// Copies the published state to a slot that no reader sees, where the owner continues. The source was written in an
  /// earlier turn. Copying it now, rather than the changed state afterwards, keeps the copy off the processor's critical
  /// path.
  @inlinable
  @inline(__always)
  func copyToSpareSlot() {
    let source = owner.pointee.place.state(State.self)
    if !tryMoveToSpareSlot({ $0.pointee = source.pointee }) { copyToFreeSlot() }
  }

  /// The usual case: makes the spare slot the current one, and calls `write` to store a state there. Returns false if that
  /// is not possible.
  @inlinable
  @inline(__always)
  func tryMoveToSpareSlot(_ write: (UnsafeMutablePointer<State>) -> Void) -> Bool {
    let (owner, slots) = (owner, slots)
    let (spare, place) = (slots.pointee.spare, slots.pointee.sparePlace)
    if !slots.pointee.isAlternating || !raw.isFree(slot: Int(spare)) { return false }
    // Loaded before `write`, which destroys an earlier state: its deinitializer may change this state, and so call this
    // function too.
    let (published, publishedPlace) = (slots.pointee.published, owner.pointee.place)
    write(place.state(State.self))
    slots.pointee.spare = published
    slots.pointee.sparePlace = publishedPlace
    slots.pointee.current = spare
    owner.pointee.place = place
    owner.pointee.isPublished = false
    return true
  }

  /// The first time, and while there are readers: makes any free slot the current one, with a copy of the published state.
  @inlinable
  @inline(never)
  func copyToFreeSlot() {
    let (owner, slots) = (owner, slots)
    destroyUnpinnedStates()
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
    let published = slots.pointee.published
    slots.pointee.spare = published
    slots.pointee.sparePlace = source
    slots.pointee.current = slot
    slots.pointee.isAlternating =
      slots.pointee.initialized == bit | 1 &<< UInt16(published)
      && (!slots.pointee.hasReaders || min(slot, published) >= 2)
    owner.pointee.place = place.raw
    owner.pointee.isPublished = false
  }

  /// Returns a slot that can be published, or else the private slot. Once a slot was found pinned, it prefers the slots
  /// that have cache lines of their own.
  @inlinable
  func freeSlot() -> UInt8 {
    let (slots, count) = (slots, UInt8(snapshotSlotCount))
    if slots.pointee.initialized & ~3 == 0, slots.pointee.published < 2, !slots.pointee.hasReaders {
      let slot = 1 - slots.pointee.published
      if raw.isFree(slot: Int(slot)) { return slot }
    }
    slots.pointee.hasReaders = true
    for step in 2..<count + 2 {
      let slot = step % count
      if slot != slots.pointee.published, raw.isFree(slot: Int(slot)) { return slot }
    }
    return privateSlot
  }

  /// Moves the state from the private slot to one that can be published. Returns false if none is free. Runs no code of the
  /// state: the earlier state in that slot is destroyed by a later change.
  @inlinable
  @inline(never)
  func tryMoveOutOfPrivateSlot() -> Bool {
    let (owner, slots) = (owner, slots)
    assert(owner.pointee.change == .none, "the state is published while it is changed or read")
    var slot = freeSlot()
    // If this frees no slot, readers are inside of their reads. So it is repeated only at each power of two of failures.
    let mayRevoke = slots.pointee.failures & (slots.pointee.failures &- 1) == 0
    if slot == privateSlot, mayRevoke, raw.revokeKeptPins() { slot = freeSlot() }
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

  /// Destroys earlier states that are not pinned any more. Not called by a release: a deinitializer that runs here may send
  /// actions to the owner, which checks for them before it releases.
  @inlinable
  func destroyUnpinnedStates() {
    let slots = slots
    for slot in 0...privateSlot {
      let bit: UInt16 = 1 << UInt16(slot)
      if slots.pointee.initialized & bit == 0 { continue }
      if slot == slots.pointee.published || slot == slots.pointee.current { continue }
      if slot != privateSlot, !raw.isFree(slot: Int(slot)) { continue }
      slots.pointee.initialized &= ~bit
      _ = place(of: Int(slot)).move()
    }
  }
}
