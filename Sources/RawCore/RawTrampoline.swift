/// The ownership word and the pins of its snapshot slots; the state diagram and the arguments stand in
/// `rr_trampoline.h`, `rr_pins.h` and `rr_readers.h`.
public protocol RawTrampoline: RawObject {
  /// With so many bytes of payload behind it.
  init(payload: Int) throws(CoreError)

  /// Where its block begins; `TrampolineLayout` says what is where.
  var memory: UnsafeMutableRawPointer { get }

  // Any thread.
  func tryInitialize(_ token: UInt64) -> Bool
  func tryAcquire(_ token: UInt64) -> Bool
  func trySchedule() -> Bool
  func isOwner(_ token: UInt64) -> Bool
  /// The owner's token, 16 while scheduled, 0 while nobody is.
  var wasOwner: UInt64 { get }

  // Whoever took the schedule over.
  func acquireScheduled(_ token: UInt64)

  // The owner.
  func publish(_ token: UInt64, slot: Int)
  func release(slot: Int)
  func isFree(slot: Int) -> Bool
  /// Takes back what threads keep pinned and do not use; whether that was anything.
  func revokeKeptPins() -> Bool
  /// Counts that there was no slot to show changes in.
  func noteDeferred()

  // Readers: any thread.
  /// The slot that may be read, or -1 before the start.
  var slot: Int { get }
  /// Pins that slot. The thread unpins it, and what it pinned later before it.
  func pinShown() -> SnapshotPin
  func unpin(_ pin: SnapshotPin)
  /// One pin more, or less, whatever the slot; who pins so must look at ``slot`` again.
  func pin(slot: Int)
  func unpin(slot: Int)
  var wasDeferred: Int { get }
}

/// What was pinned, for the unpinning.
@frozen
public struct SnapshotPin {
  /// -1 before the start; then nothing is pinned.
  public let slot: Int
  /// By what the thread keeps pinned: its record, and how many of its reads that serves already.
  public let reader: OpaquePointer?
  public let depth: UInt32

  @inlinable
  public init(slot: Int, reader: OpaquePointer? = nil, depth: UInt32 = 0) {
    self.slot = slot
    self.reader = reader
    self.depth = depth
  }
}

/// What is where in a trampoline's block, in bytes; see `rr_trampoline.h`.
public enum TrampolineLayout {
  @inlinable
  public static var places: Int { 8 }
  @inlinable
  public static var pins: Int { 64 }
  @inlinable
  public static var slotFields: Int { 96 }
  @inlinable
  public static var deferredCount: Int { 120 }
  @inlinable
  public static var payload: Int { 128 }
}

/// What stands in the place of the owner's token while the trampoline is scheduled.
@inlinable
public var scheduledToken: UInt64 { 16 }

/// How many snapshot slots a trampoline's word can name.
@inlinable
public var snapshotSlotCount: Int { 8 }
