/// A state with one place: the owner changes it where readers read it, and they take turns. See `rr_access.h`.
extension OwnedState {
  /// Whether the calling thread reads this state, and so cannot become its owner now: then it tries again after the read, see
  /// ``withValue(_:thenCheck:)``. Returns true, too, if it only reads another one. Then it does not try again; see
  /// ``isReaderOfAnother``.
  @usableFromInline
  @inline(never)
  func noteRefusalIfReader() -> Bool {
    guard let read = ThreadRead.innermost(of: raw.memory) else { return ThreadRead.isInside }
    read.pointee.wasRefused = true
    return true
  }

  /// Whether the state has one place, and the calling thread reads another such state, but not this one.
  ///
  /// If this state has readers, such a thread must leave the ownership to a thread that reads nothing. As the owner it would wait for
  /// these readers, and one of them may be about to wait, as the owner of the other state, for this thread.
  public var isReaderOfAnother: Bool {
    hasOnePlace && ThreadRead.isInside && ThreadRead.innermost(of: raw.memory) == nil
  }

  /// Waits until no other thread reads the state. The owner, before the first change of an action.
  @inlinable
  @inline(__always)
  func beginChanges() {
    if !raw.tryBeginChange() { StateAccess.awaitChange(raw) }
    owner.pointee.isPublished = false
  }

  /// Lets other threads read the state again. The owner, after the last change of an action.
  @inlinable
  @inline(__always)
  func endChanges() {
    owner.pointee.isPublished = true
    if raw.endChange() { StateAccess.notify(raw) }
  }

  /// ``withValue(_:thenCheck:)`` of a thread that is not the owner.
  @inlinable
  @inline(__always)
  func withValueInPlace<Result: ~Copyable, E: Error>(
    _ body: (borrowing State) throws(E) -> Result, thenCheck checkMailbox: () -> Void
  ) throws(E) -> Result? {
    if !hasStarted { return nil }
    if !raw.tryBeginRead(passingHold: false) { StateAccess.awaitRead(raw) }
    var read = ThreadRead(of: raw.memory)
    defer { if read.wasRefused { checkMailbox() } }
    return try withUnsafeMutablePointer(to: &read) { read throws(E) -> Result in
      ThreadRead.enter(read)
      defer {
        ThreadRead.leave(read)
        if raw.endRead() { StateAccess.notify(raw) }
      }
      return try lend(place(of: 0), to: body)
    }
  }

  /// Stops the program, since the owner reads a state that it is changing in place.
  @usableFromInline
  @inline(never)
  func failInsideOfChange() -> Never {
    fatalError(
      """
      Problem: reduce(into:mutation:) reads the state of its own reactor, of type \(State.self), which it is changing.
      Likely cause: it calls currentState or withCurrentState.
      Remedy: use the parameter of reduce; or Runtime(on: …, snapshots: .copied), where the state before the turn is read.
      """)
  }
}
