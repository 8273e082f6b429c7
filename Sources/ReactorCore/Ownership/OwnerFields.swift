/// What the owner is doing to the state.
@usableFromInline
enum Change: UInt8, Sendable {
  case none
  /// It may be in pieces.
  case inPlace
  /// A new one is being made, or this one is being read; it stays whole.
  case byValue
}

/// What only the owner touches, at each change. Small states share its cache line.
@usableFromInline
struct OwnerFields {
  /// Where the state with the owner's changes is.
  @usableFromInline var place: UnsafeMutableRawPointer
  /// Whether that is the shown one, since there are no changes.
  @usableFromInline var isShown = true
  @usableFromInline var change = Change.none

  @usableFromInline
  init(place: UnsafeMutableRawPointer) { self.place = place }
}

/// What only the owner touches, once per turn. In the line of the pins.
@usableFromInline
struct SlotFields {
  /// Where the state in `spare` is.
  @usableFromInline var sparePlace: UnsafeMutableRawPointer
  /// One bit for each slot that holds a state.
  @usableFromInline var initialized: UInt16 = 0
  /// One bit for each slot whose memory is apart from the block.
  @usableFromInline var allocated: UInt16 = 0
  @usableFromInline var shown: UInt8 = 0
  /// The slot with the owner's changes; the shown one if there are none.
  @usableFromInline var current: UInt8 = 0
  /// The slot to go on in, if it is free. While there are changes, the shown one.
  @usableFromInline var spare: UInt8 = 0
  /// Whether states are in `shown` and `spare`, in no other slot, and these two are the right ones to use in
  /// turn.
  @usableFromInline var isUsual = false
  /// Whether a slot was found pinned.
  @usableFromInline var hasReaders = false
  /// How often in a row there was no slot to show the changes in.
  @usableFromInline var failures: UInt8 = 0

  @usableFromInline
  init(place: UnsafeMutableRawPointer) { sparePlace = place }
}

/// The owner's own slot, which the word cannot name: where it goes on while all others are pinned.
@inlinable
var privateSlot: UInt8 { 8 }
