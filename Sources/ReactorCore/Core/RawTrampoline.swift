/// The ownership word and the pins of its snapshot slots; the state diagram and the argument stand in
/// `rr_trampoline.h` and `rr_pins.h`.
public protocol RawTrampoline: RawPart {
  init() throws(CoreError)

  // Any thread.
  func tryStart(_ token: UInt64) -> Bool
  func tryEnter(_ token: UInt64) -> Bool
  func trySchedule() -> Bool
  func isOwner(_ token: UInt64) -> Bool
  var wasIdle: Bool { get }
  /// The owner's token, 16 while scheduled, 0 while nobody is.
  var wasOwner: UInt64 { get }

  // Whoever took the schedule over.
  func begin(_ token: UInt64)

  // The owner.
  func publish(_ token: UInt64, slot: Int)
  func leave(slot: Int)
  func isFree(slot: Int) -> Bool

  // Readers: any thread.
  /// The slot that may be copied, or -1 before the start.
  var slot: Int { get }
  func pin(slot: Int)
  func unpin(slot: Int)
}

/// What stands in the place of the owner's token while the trampoline is scheduled.
@inlinable
public var scheduledToken: UInt64 { 16 }

/// How many snapshot slots a trampoline's word can name.
@inlinable
public var snapshotSlotCount: Int { 4 }
