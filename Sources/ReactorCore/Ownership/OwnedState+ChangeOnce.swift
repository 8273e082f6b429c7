/// The only change of a turn, by a thread that has just become the owner and releases the ownership after it: nearly every send to an
/// idle reactor. The general functions do the same (``change(as:_:)``, ``endAction(as:)``, ``release(as:afterTurns:)``), but they also
/// note in between what a turn of several changes needs.
///
/// What counts is how much is stored. The compare-and-swap of the next send waits until all stores before it have reached the cache.
/// With the notes of the general functions, a send to an idle reactor with a small state takes a quarter longer.
extension OwnedState {
  /// Finds the slot for ``changeOnce(_:as:_:)``. The owner, outside of changes.
  ///
  /// - Returns: Nil if the owner has made a change that is not published, or there is no such slot at once. Then it must call
  ///   ``change(as:_:)``.
  @unsafe
  @inlinable
  @inline(__always)
  public func slotToChangeOnce(as form: StateForm) -> SlotToChange? {
    assert(isOwner && !isChanging, "only the owner may change the state")
    assert(form == self.form && form != .replayed, "a wrong form was passed")
    let (owner, slots) = (owner, slots)
    // Loaded before the check of the pins, behind which the compiler would load them again.
    let slot = SlotToChange(
      numbers: SlotFields.numbers(of: slots), place: slots.pointee.sparePlace, source: owner.pointee.place)
    if _slowPath(!owner.pointee.isPublished) { return nil }
    if form == .onePlace { return slot }
    if _slowPath(!slots.pointee.isAlternating) || _slowPath(!raw.isFree(slot: Int(slot.number))) {
      return nil
    }
    return slot
  }

  /// Changes the state. The owner. As in ``change(as:_:)``, `body` must not publish the state or release the ownership.
  ///
  /// The owner calls ``endChangeOnce(as:)`` next. If the state has slots, then nothing may change, publish or subscribe to the state before
  /// the release (``tryReleaseLightly(_:as:)``, and ``releaseHeavily(afterTurns:)`` after false) or ``continueTurn(as:)``, also no
  /// deinitializer: until then it counts as published, though the word still names the slot before it.
  ///
  /// - Parameters:
  ///   - slot: The result of ``slotToChangeOnce(as:)``, with no change since then.
  ///   - form: The form of this state, as a constant: ``StateForm/slots`` or ``StateForm/onePlace``.
  ///   - body: Changes it.
  @unsafe
  @inlinable
  @inline(__always)
  public func changeOnce(_ slot: SlotToChange, as form: StateForm, _ body: (inout State) -> Void) {
    let (owner, slots, source, place) = (owner, slots, slot.source, slot.place)
    if form == .onePlace {
      // Readers are told when it ends, so nothing need be noted for that. See ``isChangingInPlace``.
      if !raw.tryBeginChange() { StateAccess.awaitChange(raw) }
      return body(&source.state(State.self).pointee)
    }
    assert(_isPOD(State.self), "the copy would destroy an earlier state")
    assert(slots.pointee.published == slots.pointee.current, "the owner has made a change before")
    let (published, spare) = (slot.numbers & 0xFF, UInt32(slot.number))
    let next = published &<< 16 | spare &<< 8
    if Self.changesInRegisters {
      // Loaded before and stored after all else, so that the compiler removes the first mark if the body reads nothing.
      var state = source.state(State.self).pointee
      (slots.pointee.sparePlace, owner.pointee.place) = (source, place)
      SlotFields.setNumbers(of: slots, next | published, .inPlace)
      body(&state)
      SlotFields.setNumbers(of: slots, next | spare, .none)
      place.state(State.self).pointee = state
    } else {
      // Copied before all else, so that the compiler does not join both: it would copy around what is changed, in unaligned parts. The copy
      // destroys nothing: states with references have one place here.
      place.state(State.self).pointee = source.state(State.self).pointee
      (slots.pointee.sparePlace, owner.pointee.place) = (source, place)
      SlotFields.setNumbers(of: slots, next | published, .inPlace)
      body(&place.state(State.self).pointee)
      SlotFields.setNumbers(of: slots, next | spare, .none)
    }
  }

  /// Ends that change.
  @unsafe
  @inlinable
  @inline(__always)
  public func endChangeOnce(as form: StateForm) {
    if form == .onePlace, raw.endChange() { StateAccess.notify(raw) }
  }

  /// Publishes that change and releases the ownership, if the word is light. The owner must check the mailbox again after true, and call
  /// ``releaseHeavily(afterTurns:)`` after false.
  @unsafe
  @inlinable
  @inline(__always)
  public func tryReleaseLightly(_ slot: SlotToChange, as form: StateForm) -> Bool {
    assert(isOwner && !isChanging, "only the owner may release the ownership")
    assert(
      owner.pointee.isPublished && (form == .onePlace || slots.pointee.published == slot.number),
      "the owner has made another change")
    return raw.tryReleaseLightly(slot: form == .onePlace ? 0 : Int(slot.number))
  }

  /// The same for any word. `turns` is that of ``release(as:afterTurns:)``.
  @unsafe
  @inlinable
  public func releaseHeavily(afterTurns turns: Int) {
    assert(isOwner && !isChanging, "only the owner may release the ownership")
    raw.releaseHeavily(slot: hasOnePlace ? 0 : Int(slots.pointee.published), afterTurns: turns)
  }

  /// Makes that change one of a turn that goes on: it can be followed by others, and is published later. The owner.
  @unsafe
  @inlinable
  public func continueTurn(as form: StateForm) {
    if form == .onePlace { return }
    // The slot that the word still names was made the spare one.
    slots.pointee.published = slots.pointee.spare
    owner.pointee.isPublished = false
  }
}

/// Where the owner changes a state once. Valid until it has done so.
public struct SlotToChange {
  /// Those of ``SlotFields/numbers(of:)``.
  @usableFromInline let numbers: UInt32
  /// The place of the state after the change, unless it has one place only.
  @usableFromInline let place: UnsafeMutableRawPointer
  /// The place of the published state.
  @usableFromInline let source: UnsafeMutableRawPointer

  @inlinable
  @inline(__always)
  init(numbers: UInt32, place: UnsafeMutableRawPointer, source: UnsafeMutableRawPointer) {
    (self.numbers, self.place, self.source) = (numbers, place, source)
  }

  /// The number of the slot: that of the spare one.
  @inlinable
  @inline(__always)
  var number: UInt8 { UInt8(truncatingIfNeeded: numbers &>> 16) }
}
