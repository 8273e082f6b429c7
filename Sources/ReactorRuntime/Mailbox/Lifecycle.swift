import Synchronization

/// The life of a reactor in one word: whether it still accepts what is sent, and what becomes of what it holds.
///
/// ```
///   open ── openToClosing ──▶ closing ── closingToSealed ──▶ sealed ── sealedToEnded ──▶ ended
/// ```
///
/// - **open**: the mailbox accepts.
/// - **closing**: sends are about to be refused. The segments of the mailbox are being closed; until the last one is, a
///   send may still be accepted.
/// - **sealed**: every segment is closed. Nothing is accepted any more, so a mailbox that the owner now finds empty
///   stays empty. Closing needs no memory of the core, so it cannot fail.
/// - **ended**: everything that was accepted has been processed, or taken out in order to be reported. The thread that
///   ended the reactor disposes of the streams. It resumes the threads and tasks that wait for the end, or leaves that to the
///   thread that lets the last replies leave.
///
/// Three marks are stored beside the phase. The first two do not change after the end:
///
/// - **discards**: what the reactor holds is reported instead of processed. It comes with `close(.discard)` and when a
///   transform ends. A drain can become a discard, never the other way round.
/// - **isClosedByLoopOnly**: only the loop was shut down, and nobody has closed the reactor itself. Other threads are
///   refused; turns and jobs of the loop may still send while it winds down. Such a reactor does not end until it is
///   closed itself. The mark comes with the first transition only, and the first close of the reactor clears it.
/// - **isOver**: the streams are disposed of, and the last replies have left or wait for a journal, so threads and tasks that wait for the end may return.
///
/// The phase only goes forward. So ``isClosed`` and ``discards`` stay true once they are true, and ``mayEnd`` stays
/// true until the end.
///
/// All accesses are sequentially consistent. One pair depends on that, because each side writes one location and then
/// reads the location that the other side writes:
///
/// - A closer makes the word closing, and then reads which segment is the newest and whether that one is closed. A sender
///   that grows the mailbox closes the newest segment, or puts the first one in place, and then reads the word. Either
///   the sender finds the word closing and stops growing, or the closer finds what the sender did and puts a closed
///   segment in the place of the one that the sender is about to add.
///
/// The other arguments need only that a thread that reads a value of the word also sees what was written before it:
///
/// - The owner reads the word before the mailbox. If it reads sealed, it sees all segments closed, and so every claim
///   there ever will be. If it reads an earlier value, it checks again: the closer makes the word sealed, raises the
///   flag of ``OwnerCheck`` and then reads the ownership word; the owner releases the ownership word and then reads the
///   flag. So either the closer finds the reactor idle and sees to one more turn, or the owner finds the flag and takes
///   one more turn. That turn reads sealed. This second pair is one of the flag and the ownership word; it is argued in
///   ``OwnerCheck`` and `rr_trampoline.h`.
/// - The thread that ends the reactor marks it as over, when everything that belongs to the end is done, and then reads
///   whether there is a ``Termination``. A thread that waits puts one in place, and then reads the mark. So at least one of
///   them finishes it. A reactor for which nobody waits has none.
@usableFromInline
struct Lifecycle: ~Copyable, Sendable {
  @usableFromInline
  enum Phase: UInt8, Sendable {
    case open, closing, sealed, ended
  }

  /// What closes the reactor.
  @usableFromInline
  enum Closer: Sendable {
    case reactor(Closing)
    /// The reactor's loop, which was shut down.
    case loop
  }

  /// What the thread that closes must do next.
  @usableFromInline
  enum AfterClosing: Sendable {
    /// Close the segments of the mailbox and call ``closingToSealed()``, then make the owner check once more. Several
    /// threads that close at the same time all do so: each can be stopped in the middle.
    case seal
    /// Make the owner check once more: the mailbox is sealed. The thread that sealed it may have been stopped before it
    /// did so, and this call may have changed what becomes of the contents.
    case notifyOwner
    /// The reactor has ended; or its loop was shut down, and the mailbox was sealed before.
    case nothing
  }

  /// A value of the word: the phase in the low two bits, then the marks.
  @usableFromInline
  struct Word: Sendable {
    var phase: Phase
    var discards = false
    var isClosedByLoopOnly = false
    var isOver = false

    @usableFromInline
    init(_ rawValue: UInt8) {
      // Two bits, and all four values are phases.
      phase = Phase(rawValue: rawValue & 3).unsafelyUnwrapped
      discards = rawValue & 4 != 0
      isClosedByLoopOnly = rawValue & Lifecycle.closedByLoopOnly != 0
      isOver = rawValue & 16 != 0
    }

    var rawValue: UInt8 {
      phase.rawValue | (discards ? 4 : 0) | (isClosedByLoopOnly ? Lifecycle.closedByLoopOnly : 0)
        | (isOver ? 16 : 0)
    }
  }

  @usableFromInline let word = Atomic<UInt8>(0)

  @usableFromInline init() {}

  // MARK: Transitions

  /// Closes the life cycle, or changes a drain to a discard. Any thread.
  @usableFromInline
  func openToClosing(by closer: Closer) -> AfterClosing {
    let changed = update { word in
      if word.phase == .ended { return nil }
      var next = word
      if word.phase == .open { next.phase = .closing }
      switch closer {
      case .loop: if word.phase == .open { next.isClosedByLoopOnly = true }
      case .reactor(let closing):
        next.isClosedByLoopOnly = false
        if closing == .discard { next.discards = true }
      }
      return next
    }
    guard let changed else { return .nothing }
    if changed.phase == .closing { return .seal }
    if case .loop = closer { return .nothing }
    return .notifyOwner
  }

  /// Every segment of the mailbox is closed. Any thread that has closed them.
  ///
  /// - Returns: Whether it was this call that sealed it.
  @usableFromInline
  func closingToSealed() -> Bool {
    update { word in
      if word.phase != .closing { return nil }
      var next = word
      next.phase = .sealed
      return next
    } != nil
  }

  /// Everything that was accepted is done. The owner, once it has found the mailbox empty after ``mayEnd``; or the
  /// thread that has discarded what was inside.
  ///
  /// - Returns: Whether it was this call that ended it: then the caller disposes of the streams and resumes the threads
  /// and tasks that wait for the end.
  @usableFromInline
  func sealedToEnded() -> Bool {
    update { word in
      if word.phase != .sealed || word.isClosedByLoopOnly { return nil }
      var next = word
      next.phase = .ended
      return next
    } != nil
  }

  /// Everything that belongs to the end is done. Once, after ``sealedToEnded()`` returned true, and before the
  /// search for threads and tasks that wait.
  func markOver() { _ = word.bitwiseOr(16, ordering: .sequentiallyConsistent) }

  /// Changes the word to what `transition` returns, unless that is nil; repeats while other threads change it. Returns
  /// the word afterwards, or nil.
  private func update(_ transition: (Word) -> Word?) -> Word? {
    var found = word.load(ordering: .sequentiallyConsistent)
    while true {
      let from = Word(found)
      guard let to = transition(from) else { return nil }
      if from.rawValue == to.rawValue { return to }
      let (isChanged, current) = word.compareExchange(
        expected: found, desired: to.rawValue, ordering: .sequentiallyConsistent)
      if isChanged { return to }
      found = current
    }
  }

  // MARK: Queries, any thread

  @usableFromInline
  var current: Word { Word(word.load(ordering: .sequentiallyConsistent)) }

  /// Whether sends are refused, or are about to be.
  @inlinable
  var isClosed: Bool { word.load(ordering: .sequentiallyConsistent) != 0 }

  /// Whether the reactor was closed a moment ago, and not only because its loop was shut down.
  // Relaxed: it decides nothing alone.
  @inlinable
  @inline(__always)
  var wasClosedForGood: Bool {
    let word = word.load(ordering: .relaxed)
    return word != 0 && word & Self.closedByLoopOnly == 0
  }

  /// The mark ``Word/isClosedByLoopOnly``.
  @inlinable static var closedByLoopOnly: UInt8 { 8 }

  /// Whether the reactor has ended, and everything that belongs to that is done.
  @usableFromInline
  var isOver: Bool { current.isOver }

  /// Whether what the reactor holds is to be reported instead of processed.
  @usableFromInline
  var discards: Bool { current.discards }

  /// Whether the reactor ends as soon as the owner finds the mailbox empty. The owner must check this before the
  /// mailbox: one that was empty before it was sealed may have accepted something in between.
  @usableFromInline
  var mayEnd: Bool {
    let word = current
    return word.phase == .sealed && !word.isClosedByLoopOnly
  }

  /// Whether the thread that runs the reactor's turns is refused like every other thread: the reactor itself was
  /// closed, and the send does not come from one of its own turns, in which it processes what it had accepted.
  @usableFromInline
  func refusesOwner(inTurn: Bool) -> Bool {
    let word = current
    switch word.phase {
    case .open: return false
    case .closing, .sealed: return !word.isClosedByLoopOnly && !inTurn
    case .ended: return true
    }
  }
}

/// What becomes of what a reactor holds when it is closed.
public enum Closing: Sendable, Hashable {
  /// It is processed, and so is what the reactor sends to itself meanwhile.
  case drain
  /// It is destroyed, and each action is reported as ``SendError/closed``. The action that is running is completed: the mutations
  /// that `mutate` returns at once are reduced, as long as no transform has ended.
  case discard
}
