/// The owner's search for a slot for its changes, and their publication.
extension OwnedState {
  /// Publishes the owner's changes and keeps the ownership. The owner, but not inside of a change.
  @unsafe
  @inlinable
  @inline(__always)
  public func publish() {
    assert(!isChangingInPlace, "the state is published inside of a change")
    if owner.pointee.isPublished { return }
    let slot = markPublished(as: form)
    // Readers of a state with one place need not be told where it is.
    if slot == privateSlot || hasOnePlace { return }
    raw.publish(CurrentCore.threadToken, slot: Int(slot))
  }

  /// Publishes the owner's changes and releases the ownership. The owner, but not inside of a change; it must check the mailbox again
  /// afterwards.
  @unsafe
  @inlinable
  @inline(__always)
  public func release() {
    assert(isOwner, "only the owner may release the ownership")
    assert(!isChangingInPlace, "the ownership is released inside of a change")
    let slot = markPublished(as: form)
    if slot == privateSlot { return releaseDeferred() }
    raw.release(slot: Int(slot))
  }

  /// The same after a turn that has left nothing to do, and after ``endAction(as:)``. Costs less once many such turns met no other
  /// thread; a thread that then meets the owner pays about 10 µs. Not after ``acquireScheduled()``.
  ///
  /// - Parameters:
  ///   - form: The form of this state, as a constant where the caller knows it.
  ///   - turns: A number that grows by 1 with each such release. Rarely evaluated.
  @unsafe
  @inlinable
  @inline(__always)
  public func release(as form: StateForm, afterTurns turns: @autoclosure () -> Int) {
    assert(isOwner, "only the owner may release the ownership")
    assert(!isChangingInPlace, "the ownership is released inside of a change")
    assert(form != .onePlace || owner.pointee.isPublished, "the ownership is released inside of an action")
    let slot = form == .onePlace ? 0 : markPublished(as: form)
    if _slowPath(slot == privateSlot) { return releaseDeferred() }
    if !raw.tryReleaseLightly(slot: Int(slot)) { raw.releaseHeavily(slot: Int(slot), afterTurns: turns()) }
  }

  /// Releases the ownership while the changes are in the private slot. The owner, after ``markPublished(as:)`` has found no other.
  ///
  /// The other half is ``publishDeferred()``. Either this finds the slot that a reader freed, or that reader finds that a
  /// state is deferred and that nobody owns it; see `rr_trampoline.h`.
  @usableFromInline
  @inline(never)
  func releaseDeferred() {
    var slot: UInt8
    repeat {
      raw.release(slot: Int(slots.pointee.published))
      // If this cannot acquire, another owner publishes the changes, or comes here.
      if !hasFreeSlot || !raw.tryAcquire(CurrentCore.threadToken) { return }
      slot = markPublished(as: form)
    } while slot == privateSlot
    raw.release(slot: Int(slot))
  }

  /// Publishes the changes that an owner left in the private slot, if a slot is free for them. A reader that has unpinned.
  ///
  /// - Returns: Whether the calling thread was the owner for a moment. Then it must check the mailbox.
  @usableFromInline
  @inline(never)
  func publishDeferred() -> Bool {
    if !hasFreeSlot || !raw.tryAcquire(CurrentCore.threadToken) { return false }
    release()
    return true
  }

  /// Whether a slot that is not published has no pins. May be stale at once. Any thread.
  private var hasFreeSlot: Bool {
    let published = raw.publishedSlot
    return (0..<snapshotSlotCount).contains { $0 != published && raw.isFree(slot: $0) }
  }

  /// Publishes the owner's changes and turns the ownership into a reservation: the caller must make sure that one thread
  /// calls ``acquireScheduled()``. The owner, but not inside of a change.
  @unsafe
  public func reschedule() {
    assert(isOwner, "only the owner may reschedule")
    assert(!isChangingInPlace, "the ownership is released inside of a change")
    _ = markPublished(as: form)
    raw.publish(scheduledToken, slot: Int(slots.pointee.published))
  }

  /// Marks the slot with the owner's changes as the published one, and returns its number, which the caller then stores in the
  /// word. Returns ``privateSlot`` if the changes are there and no other slot is free: the next publication tries again, by the
  /// owner at that time or by a reader that has freed a slot.
  @inlinable
  @inline(__always)
  func markPublished(as form: StateForm) -> UInt8 {
    assert(form == self.form, "a wrong form was passed")
    let (owner, slots) = (owner, slots)
    if form == .onePlace {
      endAction(as: form)
      return 0
    }
    var slot = slots.pointee.current
    if _slowPath(slot == privateSlot) {
      if !tryMoveOutOfPrivateSlot() { return privateSlot }
      slot = slots.pointee.current
    }
    slots.pointee.published = slot
    owner.pointee.isPublished = true
    return slot
  }

  /// Makes a slot that no reader sees the current one. It holds a copy of the published state then; or an older state, if the caller
  /// stores a whole one there (``changesInRegisters``). The source of the copy was written in an earlier turn. Copying it now,
  /// rather than the changed state afterwards, keeps the copy off the processor's critical path.
  ///
  /// - Returns: The place of that slot. Loading it from where it has just been stored would take longer.
  @inlinable
  @inline(__always)
  func continueInSpareSlot() -> UnsafeMutableRawPointer {
    let (source, spare) = (owner.pointee.place.state(State.self), slots.pointee.sparePlace)
    if _fastPath(tryMoveToSpareSlot({ if !Self.changesInRegisters { $0.pointee = source.pointee } })) {
      return spare
    }
    copyToFreeSlot()
    return owner.pointee.place
  }

  /// The usual case: makes the spare slot the current one, and calls `write` to store a state there. Returns false if that
  /// is not possible.
  @inlinable
  @inline(__always)
  func tryMoveToSpareSlot(_ write: (UnsafeMutablePointer<State>) -> Void) -> Bool {
    let (owner, slots) = (owner, slots)
    // Loaded before the check of the pins, behind which the compiler would load the place again.
    let (spare, place) = (slots.pointee.spare, slots.pointee.sparePlace)
    let (published, publishedPlace) = (slots.pointee.published, owner.pointee.place)
    if _slowPath(!slots.pointee.isAlternating || !raw.isFree(slot: Int(spare))) { return false }
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
    assert(slots.pointee.change == .none, "the state is published while it is changed or read")
    var slot = freeSlot()
    // If this frees no slot, readers are inside of their reads. So it is repeated only at each power of two of failures.
    let mayRevoke = slots.pointee.failures & (slots.pointee.failures &- 1) == 0
    if slot == privateSlot, mayRevoke {
      _ = raw.revokeKeptPins()
      // Also if it has taken none: it waits for threads that are unpinning theirs.
      slot = freeSlot()
    }
    if slot == privateSlot {
      // Never 0 again, which would say that nothing is deferred.
      slots.pointee.failures = slots.pointee.failures == .max ? 128 : slots.pointee.failures + 1
      raw.noteDeferred()
      return false
    }
    if slots.pointee.failures != 0 { raw.noteUndeferred() }
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

extension UnsafeMutableRawPointer {
  /// The state at this address.
  @inlinable
  @inline(__always)
  func state<State>(_ type: State.Type) -> UnsafeMutablePointer<State> {
    assumingMemoryBound(to: State.self)
  }
}

extension UnsafeMutablePointer {
  @inlinable
  @inline(__always)
  var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}

/// What the owner is doing to the state. Its raw values are what is in memory: ``SlotFields/setNumbers(of:_:_:)`` stores them.
@usableFromInline
enum Change: UInt8, Sendable {
  case none
  /// It changes the state in place, so the state may be inconsistent.
  case inPlace
  /// It computes a new state from this one, or reads this one, which does not change meanwhile.
  case byValue
}

/// The fields that only the owner accesses, at each change. Small states share their cache line.
@usableFromInline
struct OwnerFields {
  /// The place of the state with the owner's changes.
  @usableFromInline var place: UnsafeMutableRawPointer
  /// Whether that is the published state: the owner has made no changes since. Also after ``OwnedState/changeOnce(_:as:_:)``, until the
  /// turn goes on.
  @usableFromInline var isPublished = true
  /// With one place: when the owner last waited a moment for readers, and not all of them entered; on the clock of
  /// ``StateAccess``.
  @usableFromInline var fruitlessMoment: UInt32 = 0

  @usableFromInline
  init(place: UnsafeMutableRawPointer) { self.place = place }

  /// Where they are in a trampoline's block.
  @inlinable
  @inline(__always)
  static func pointer(in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<OwnerFields> {
    (block + TrampolineLayout.payload).assumingMemoryBound(to: OwnerFields.self)
  }
}

/// The fields that only the owner accesses: `change` at each change, and when it reads; the others once per turn.
@usableFromInline
struct SlotFields {
  /// The place of the state in `spare`.
  @usableFromInline var sparePlace: UnsafeMutableRawPointer
  /// One bit for each slot that holds a state.
  @usableFromInline var initialized: UInt16 = 0
  /// One bit for each slot whose memory is a separate allocation.
  @usableFromInline var allocated: UInt16 = 0
  /// The slot that the word names, or that the owner is about to publish.
  @usableFromInline var published: UInt8 = 0
  /// The slot with the owner's changes; the published one if there are none.
  @usableFromInline var current: UInt8 = 0
  /// The slot for the next changes, if it is free. While there are changes, the published slot.
  @usableFromInline var spare: UInt8 = 0
  @usableFromInline var change = Change.none
  /// ``isAlternating`` and ``hasReaders``, a bit each.
  @usableFromInline var flags: UInt8 = 0
  /// How many publications in a row were deferred.
  @usableFromInline var failures: UInt8 = 0

  @usableFromInline
  init(place: UnsafeMutableRawPointer) { sparePlace = place }

  /// Whether the owner uses two slots in turn: `published` and `spare` hold states, no other slot does, and these two are
  /// the right ones for the readers that there are.
  @inlinable
  var isAlternating: Bool {
    get { flags & 1 != 0 }
    set { flags = newValue ? flags | 1 : flags & ~1 }
  }

  /// Whether a slot was found pinned.
  @inlinable
  var hasReaders: Bool {
    get { flags & 2 != 0 }
    set { flags = newValue ? flags | 2 : flags & ~2 }
  }

  /// Returns ``published``, ``current``, ``spare`` and ``change``, a byte each, the lowest first: one load, and one store for all of them.
  @inlinable
  @inline(__always)
  static func numbers(of fields: UnsafeMutablePointer<SlotFields>) -> UInt32 {
    UInt32(
      littleEndian: UnsafeMutableRawPointer(fields).load(fromByteOffset: offsetOfPublished, as: UInt32.self))
  }

  @inlinable
  @inline(__always)
  static func setNumbers(of fields: UnsafeMutablePointer<SlotFields>, _ numbers: UInt32, _ change: Change) {
    UnsafeMutableRawPointer(fields).storeBytes(
      of: (numbers | UInt32(change.rawValue) &<< 24).littleEndian, toByteOffset: offsetOfPublished,
      as: UInt32.self)
  }

  /// Where `published` is. `current`, `spare` and `change` are behind it, as `StatePlaces.prepare` checks.
  @inlinable static var offsetOfPublished: Int { 12 }

  /// Where they are in a trampoline's block.
  @inlinable
  @inline(__always)
  static func pointer(in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<SlotFields> {
    (block + TrampolineLayout.slotFields).assumingMemoryBound(to: SlotFields.self)
  }
}

/// The slot that the word cannot name, and that only the owner uses: it continues there while all others are pinned.
@inlinable
var privateSlot: UInt8 { 8 }
