/// The ownership word of a state, and the pins of its snapshot slots. The state diagram and the arguments are documented
/// in `rr_trampoline.h`, `rr_pins.h` and `rr_readers.h`.
public protocol RawTrampoline: RawObject {
  /// Creates a trampoline in the state NEW, with `payload` bytes behind it.
  init(payload: Int) throws(CoreError)

  /// The beginning of its memory. ``TrampolineLayout`` has the offsets.
  var memory: UnsafeMutableRawPointer { get }

  // MARK: Any thread

  /// NEW → OWNED. Returns false if another thread was first.
  func tryInitialize(_ token: UInt64) -> Bool
  /// IDLE → OWNED. Lock-free.
  func tryAcquire(_ token: UInt64) -> Bool
  /// IDLE → SCHEDULED. After true, the caller must make sure that a thread calls ``acquireScheduled(_:)``. Lock-free.
  func trySchedule() -> Bool
  /// Whether the thread with that token, which must be the caller's, is the owner.
  func isOwner(_ token: UInt64) -> Bool
  /// The token of the thread that was the owner a moment ago; ``scheduledToken`` while scheduled, 0 while idle or new.
  var wasOwner: UInt64 { get }

  // MARK: The thread that runs the schedule

  /// SCHEDULED → OWNED.
  func acquireScheduled(_ token: UInt64)

  // MARK: The owner

  /// Publishes the snapshot in `slot`. OWNED → OWNED with the owner's token; OWNED → SCHEDULED with ``scheduledToken``.
  func publish(_ token: UInt64, slot: Int)
  /// OWNED → IDLE; publishes the snapshot in `slot`.
  func release(slot: Int)
  /// Whether no reader pins `slot`. For a slot that is not published, true stays true until it is published.
  func isFree(slot: Int) -> Bool
  /// Takes back the pins that threads keep without using them. Returns whether there were any.
  func revokeKeptPins() -> Bool
  /// Counts a publication that was deferred because no slot was free.
  func noteDeferred()

  // MARK: Readers, on any thread

  /// The slot of the published snapshot; -1 before the first publication.
  var publishedSlot: Int { get }
  /// Pins the published slot. The calling thread unpins it, after everything that it pinned later.
  func pinPublished() -> SnapshotPin
  /// Ends a pin of ``pinPublished()``.
  func unpin(_ pin: SnapshotPin)
  /// Adds a pin to `slot`. The caller must load ``publishedSlot`` again before it reads, and must find the same slot.
  func pin(slot: Int)
  /// Removes a pin from `slot`.
  func unpin(slot: Int)
  /// The number of publications that were deferred.
  var wasDeferred: Int { get }
}

/// A pin of a snapshot slot, to be ended by the thread that made it.
@frozen
public struct SnapshotPin {
  /// The slot that is pinned; -1 if nothing was published yet, and nothing is pinned.
  public let slot: Int
  /// The record of the thread, if the pin is one that the thread keeps between its reads.
  public let reader: OpaquePointer?
  /// The depth of that record before this read: the number of reads by the kept pin that the thread was inside of.
  public let depth: UInt32

  /// A pin of `slot`.
  @inlinable
  public init(slot: Int, reader: OpaquePointer? = nil, depth: UInt32 = 0) {
    self.slot = slot
    self.reader = reader
    self.depth = depth
  }
}

/// The offsets in a trampoline's memory, in bytes; see `rr_trampoline.h`.
public enum TrampolineLayout {
  /// The pointers to the slots that have memory of their own.
  @inlinable
  public static var places: Int { 8 }
  /// The pin counts of the slots.
  @inlinable
  public static var pins: Int { 64 }
  /// What the owner knows about the slots.
  @inlinable
  public static var slotFields: Int { 96 }
  /// The number of deferred publications.
  @inlinable
  public static var deferredCount: Int { 120 }
  /// The first byte behind the trampoline.
  @inlinable
  public static var payload: Int { 128 }
}

/// The value that the word has instead of an owner's token while the trampoline is scheduled.
@inlinable
public var scheduledToken: UInt64 { 16 }

/// The number of snapshot slots that a trampoline's word can name.
@inlinable
public var snapshotSlotCount: Int { 8 }
