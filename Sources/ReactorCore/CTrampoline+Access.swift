import CReactorCore

/// A state with one place; see `rr_access.h`.
extension CTrampoline {
  @inlinable
  @inline(__always)
  public func tryBeginChange() -> Bool { rr_access_try_begin_change(word) }

  @inlinable
  public func giveUpBias() { rr_access_give_up_bias(word) }

  @inlinable
  public func holdReaders() { rr_access_hold(word) }

  @inlinable
  public func tryBeginHeldChange() -> Bool { rr_access_try_begin_held_change(word) }

  @inlinable
  @inline(__always)
  public func endChange() -> Bool { rr_access_end_change(word) }

  @inlinable
  @inline(__always)
  public func tryBeginRead(passingHold: Bool) -> Bool { rr_access_try_begin_read(word, passingHold) }

  @inlinable
  public func wasOpen(passingHold: Bool) -> Bool { rr_access_is_open(word, passingHold) }

  @inlinable
  public var wasHeld: Bool { rr_access_is_held(word) }

  @inlinable
  @inline(__always)
  public func endRead() -> Bool { rr_access_end_read(word) }

  @inlinable
  public var wasReaderCount: Int { Int(rr_access_was_reader_count(word)) }

  @inlinable
  public var hasReaders: Bool { rr_access_has_readers(word) }

  @inlinable
  public func beginWaiting() { rr_access_begin_wait(word) }

  @inlinable
  public func endWaiting() { rr_access_end_wait(word) }

  @inlinable
  public var wasWaitingCount: Int { Int(rr_access_was_waiting_count(word)) }

  @inlinable
  public func beginStarving() { rr_access_begin_starving(word) }

  @inlinable
  public func endStarving() { rr_access_end_starving(word) }

  @inlinable
  public var hasStarving: Bool { rr_access_has_starving(word) }

  @inlinable
  public func noteCopy() { rr_access_note_copy(word) }

  @inlinable
  public var wasCopied: Int { Int(rr_access_was_copied_count(word)) }
}
