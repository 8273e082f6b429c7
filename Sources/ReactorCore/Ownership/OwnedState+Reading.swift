/// How any thread reads the state.
extension OwnedState {
  /// Returns a whole state, or nil before the start. Any thread; with slots, never waits for the owner.
  ///
  /// The owner sees its own changes at once. Inside of ``replace(_:)`` it sees the state before the change. Inside of
  /// ``change(_:)``, while the state may be inconsistent, it sees what other threads see: the state that was published
  /// last. If the state has one place, it stops the program there.
  ///
  /// - Parameter checkMailbox: As that of ``withValue(_:thenCheck:)``.
  /// - Complexity: One copy of the state. The pin before it is repeated if a newer snapshot was published in between.
  @inlinable
  @inline(__always)
  public func read(thenCheck checkMailbox: () -> Void = {}) -> State? {
    // With a closure for all forms, each read of a slot would check the form.
    withValue(
      { copy $0 },
      inPlace: { state in
        if !isOwner { raw.noteCopy() }
        return copy state
      }, thenCheck: checkMailbox)
  }

  /// Calls `body` with a whole state, without copying it. Returns nil before the start, without calling `body`. Any thread;
  /// with slots, never waits for the owner. ``read(thenCheck:)`` documents which state it is.
  ///
  /// While `body` runs, the owner makes its changes in another slot, or waits if the state has one place. So the state stays
  /// alive and does not change. `body` may do anything, for example read again, but its argument must not escape.
  ///
  /// - Parameters:
  ///   - body: Reads the state. If the state has one place, it must not wait for anything that may wait for the owner.
  ///   - checkMailbox: Called after the read if the calling thread must check the mailbox, and run the owner's work if
  ///     there is any: it could not become the owner inside of `body`, since it was reading a state with one place; or it
  ///     was the owner for a moment after the read, to publish a state that was deferred.
  /// - Complexity: O(1), apart from `body`. The pin is repeated if a newer snapshot was published in between.
  @inlinable
  @inline(__always)
  public func withValue<Result: ~Copyable, E: Error>(
    _ body: (borrowing State) throws(E) -> Result, thenCheck checkMailbox: () -> Void = {}
  ) throws(E) -> Result? {
    try withValue(body, inPlace: body, thenCheck: checkMailbox)
  }

  /// The same, with another body for a thread that is not the owner if the state has one place.
  @inlinable
  @inline(__always)
  func withValue<Result: ~Copyable, E: Error>(
    _ body: (borrowing State) throws(E) -> Result, inPlace bodyInPlace: (borrowing State) throws(E) -> Result,
    thenCheck checkMailbox: () -> Void
  ) throws(E) -> Result? {
    // No function that is not inlined gets `body`: the closure would be made, in memory, for each read.
    let kept = raw.pinKept()
    if kept.reader != nil {
      defer { if raw.unpin(kept), publishDeferred() { checkMailbox() } }
      return try lend(kept.place.unsafelyUnwrapped.state(State.self), to: body)
    }
    if hasOnePlace, !isOwner { return try withValueInPlace(bodyInPlace, thenCheck: checkMailbox) }
    let begun = isOwner ? beginReadAsOwner() : beginReadByNewPin()
    guard let place = begun.pin.place else { return nil }
    defer { if end(begun) { checkMailbox() } }
    return try lend(place.state(State.self), to: body)
  }

  /// Begins a read of the state with the owner's changes.
  @inlinable
  @inline(never)
  func beginReadAsOwner() -> BegunRead {
    let owner = owner
    // Inside of `initial` there is no state yet.
    if slots.pointee.initialized == 0 { return BegunRead(pin: SnapshotPin(slot: -1)) }
    let change = slots.pointee.change
    if hasOnePlace, isChangingInPlace { failInsideOfChange() }
    if change == .inPlace { return BegunRead(pin: SnapshotPin(slot: -1, place: slots.pointee.sparePlace)) }
    // What reads must not change the state that it reads; see `isChanging`.
    slots.pointee.change = .byValue
    return BegunRead(pin: SnapshotPin(slot: -1, place: owner.pointee.place), outerChange: change)
  }

  /// Begins a read of a state of which the thread keeps no pin, or by whose pin it reads already.
  @inlinable
  @inline(never)
  func beginReadByNewPin() -> BegunRead {
    var pin = raw.pinUnkept()
    if pin.slot >= 0 { pin.place = place(of: pin.slot).raw }
    return BegunRead(pin: pin)
  }

  /// Ends a read that one of these two began. Returns whether the calling thread was the owner for a moment; then it must check
  /// the mailbox.
  @inlinable
  @inline(never)
  func end(_ begun: BegunRead) -> Bool {
    if begun.pin.slot >= 0 { return raw.unpin(begun.pin) && publishDeferred() }
    if let change = begun.outerChange { slots.pointee.change = change }
    return false
  }
}

/// A read that has begun, but not by a kept pin.
@usableFromInline
struct BegunRead {
  /// Its place is nil if there is no state yet. Its slot is -1 if nothing is pinned: the owner reads.
  @usableFromInline var pin: SnapshotPin
  /// What the owner was doing to the state before it began to read, unless it is inside of a change in place.
  @usableFromInline var outerChange: Change?

  @inlinable
  init(pin: SnapshotPin, outerChange: Change? = nil) {
    self.pin = pin
    self.outerChange = outerChange
  }
}

/// Calls `body` with the value at an address, without copying it: not even a debug build copies a value in a function that is also
/// for types that cannot be copied. (It copies where it calls a closure whose type names a concrete state.)
@inlinable
@inline(__always)
func lend<Value: ~Copyable, Result: ~Copyable, E: Error>(
  _ place: UnsafeMutablePointer<Value>, to body: (borrowing Value) throws(E) -> Result
) throws(E) -> Result {
  try body(place.pointee)
}
