/// The ownership word of a state, and the pins of its snapshot slots. The state diagram and the arguments are documented
/// in `rr_trampoline.h` and `rr_readers.h`.
public protocol RawTrampoline: RawObject {
  /// Creates a trampoline in the state NEW, with `payload` bytes behind it, at most ``SlotLimits/payload``.
  init(payload: Int) throws(CoreError)

  /// As ``RawObject/destroy()``, for a state with one place, which no thread pins: does not wait for other states' readers.
  func destroyPlace()

  /// The beginning of its memory. ``TrampolineLayout`` has the offsets.
  var memory: UnsafeMutableRawPointer { get }

  // MARK: Any thread

  /// NEW → OWNED. Returns false if another thread was first.
  func tryInitialize(_ token: UInt64) -> Bool
  /// IDLE → OWNED. Lock-free.
  func tryAcquire(_ token: UInt64) -> Bool
  /// IDLE → SCHEDULED. After true, the caller must make sure that a thread calls ``acquireScheduled(_:)``. Lock-free.
  func trySchedule() -> Bool
  /// Whether the trampoline has an owner, or is scheduled, and that owner's check after its release finds what the calling thread
  /// has put into the mailbox.
  var isBusy: Bool { get }
  /// Whether the thread with that token, which must be the caller's, is the owner.
  func isOwner(_ token: UInt64) -> Bool
  /// The token of the thread that was the owner a moment ago; ``scheduledToken`` while scheduled, 0 while idle or new. Nobody may
  /// rely on that owner because of it: ``isBusy``.
  var ownerToken: UInt64 { get }

  // MARK: The thread that runs the schedule

  /// SCHEDULED → OWNED.
  func acquireScheduled(_ token: UInt64)

  // MARK: The owner

  /// Publishes the snapshot in `slot`. OWNED → OWNED with the owner's token; OWNED → SCHEDULED with ``scheduledToken``.
  func publish(_ token: UInt64, slot: Int)
  /// OWNED → IDLE; publishes the snapshot in `slot`.
  func release(slot: Int)
  /// The same, after a turn that has left nothing to do, if the word is light: see "Light words" in `rr_trampoline.h`. After false
  /// the owner must call ``releaseHeavily(slot:afterTurns:)``. Not after ``acquireScheduled(_:)``.
  func tryReleaseLightly(slot: Int) -> Bool
  /// The same for any word, which may become light; `turns` is a number that grows by 1 with each release of the two kinds.
  func releaseHeavily(slot: Int, afterTurns turns: Int)
  /// Whether no reader pins `slot`. For a slot that is not published, true stays true until it is published.
  func isFree(slot: Int) -> Bool
  /// Takes back the pins that threads keep without using them. Returns whether it took any; others may have been unpinned
  /// meanwhile.
  func revokeKeptPins() -> Bool
  /// Counts a publication that was deferred because no slot was free, and tells readers. After ``release(slot:)`` the owner
  /// must check ``isFree(slot:)`` once more.
  func noteDeferred()
  /// The state that was deferred is being published.
  func noteUndeferred()

  // MARK: Readers, on any thread

  /// The slot of the published snapshot; -1 before the first publication.
  var publishedSlot: Int { get }
  /// Begins a read by a pin of the published slot that the calling thread keeps. The slot is -1 if it keeps none, reads by it
  /// already, or is the owner. Also of a state with one place, which no thread pins.
  func pinKept() -> SnapshotPin
  /// Pins the published slot, after ``pinKept()`` found no pin. The slot is -1 if nothing was published yet.
  func pinUnkept() -> SnapshotPin
  /// Ends a pin of one of these; or keeps it, if it knows its place. Returns whether a state is deferred, and this may have freed
  /// a slot for it. The thread that pinned, after it has unpinned everything that it pinned later.
  @discardableResult
  func unpin(_ pin: SnapshotPin) -> Bool
  /// Adds a pin to `slot`. The caller must load ``publishedSlot`` again before it reads, and must find the same slot.
  func pin(slot: Int)
  /// Removes a pin from `slot`.
  func unpin(slot: Int)
  /// The number of publications that were deferred.
  var wasDeferred: Int { get }

  // MARK: A state with one place; see `rr_access.h`

  /// Begins a change if no thread reads or waits. The owner. After false it must notify if ``wasWaitingCount`` is not zero.
  func tryBeginChange() -> Bool
  /// Makes later changes cost a read-modify-write, if they do not. The owner, outside of a change, before it waits for readers.
  func giveUpBias()
  /// Makes readers that come from now on hold back. The owner, outside of a change.
  func holdReaders()
  /// Begins a change after ``holdReaders()`` if no thread reads. The owner.
  func tryBeginHeldChange() -> Bool
  /// Ends a change. Returns whether a reader waits; then the caller must notify. The owner.
  func endChange() -> Bool
  /// Begins a read, unless the state is being changed, or readers hold back and this one must. Any thread but the owner.
  /// After false, a caller that is going to sleep must notify if ``wasHeld``: the owner may wait for the moment in which it
  /// counted as a reader.
  func tryBeginRead(passingHold: Bool) -> Bool
  /// Whether ``tryBeginRead(passingHold:)`` would have succeeded a moment ago. Any thread.
  func wasOpen(passingHold: Bool) -> Bool
  /// Whether the owner was waiting a moment ago until no thread reads. Any thread.
  var wasHeld: Bool { get }
  /// Ends a read. Returns whether the owner waits for that; then the caller must notify. The reader.
  func endRead() -> Bool
  /// The number of threads that were reading a moment ago. Contains the calling thread. Any thread.
  var wasReaderCount: Int { get }
  /// Whether a thread reads. Of threads that have each begun to read one state and then ask about the next one, all around,
  /// one finds a reader. Any thread.
  var hasReaders: Bool { get }
  /// The calling thread begins, and stops, to wait for the end of a change. Any thread but the owner.
  func beginWaiting()
  func endWaiting()
  /// How many threads were waiting for the end of a change a moment ago. Any thread.
  var wasWaitingCount: Int { get }
  /// The calling thread, which waits, says that it has waited for long, and stops saying so. Any thread but the owner.
  func beginStarving()
  func endStarving()
  /// Whether a thread said so a moment ago. Any thread.
  var hasStarving: Bool { get }
  /// Counts a copy of the state that was handed out. Any thread.
  func noteCopy()
  /// The number of those copies. Any thread.
  var wasCopied: Int { get }
}

/// A pin of a snapshot slot, to be ended by the thread that made it.
@frozen
public struct SnapshotPin {
  /// The slot that is pinned; -1 if nothing was published yet, and nothing is pinned.
  public let slot: Int
  /// The record of the thread, if the pin is one that the thread keeps between its reads.
  public let reader: OpaquePointer?
  /// Where the state is. Nil if the slot was pinned for this read only, until its reader has set it.
  public var place: UnsafeMutableRawPointer?

  /// A pin of `slot`.
  @inlinable
  public init(slot: Int, reader: OpaquePointer? = nil, place: UnsafeMutableRawPointer? = nil) {
    self.slot = slot
    self.reader = reader
    self.place = place
  }
}

/// The offsets in a trampoline's memory, in bytes; see `rr_trampoline.h`.
public enum TrampolineLayout {
  /// The pointer to the table of the slots that have memory of their own.
  @inlinable
  public static var places: Int { 8 }
  /// The pin counts of the slots.
  @inlinable
  public static var pins: Int { 16 }
  /// What the owner knows about the slots.
  @inlinable
  public static var slotFields: Int { 56 }
  /// The first byte behind that.
  @inlinable
  public static var slotFieldsEnd: Int { 74 }
  /// Twice the number of deferred publications, plus 1 while a state is deferred.
  @inlinable
  public static var deferrals: Int { 48 }
  /// The first byte behind the trampoline.
  @inlinable
  public static var payload: Int { 80 }
}

/// The value that the word has instead of an owner's token while the trampoline is scheduled.
@inlinable
public var scheduledToken: UInt64 { 16 }

/// The number of snapshot slots that a trampoline's word can name.
@inlinable
public var snapshotSlotCount: Int { 8 }
