/// Where the states of an owned state are: in the trampoline's block, behind the owner's fields, or apart.
///
/// Small states have their first two slots in the block. An owner that nobody reads uses these two in turn.
/// They share a cache line with each other and with the owner's fields, so who reads a state often must not
/// read it there: from the first time on that a slot is found pinned, the others are used, which have lines of
/// their own, and are allocated one by one.
@usableFromInline
enum StatePlaces<State> {
  @inlinable
  static var isSmall: Bool {
    MemoryLayout<State>.stride <= 64 && MemoryLayout<State>.alignment <= 16
  }

  /// How far the first two slots are from each other: states, or pointers to them.
  @inlinable
  static var step: Int {
    isSmall ? MemoryLayout<State>.stride : MemoryLayout<UnsafeMutableRawPointer>.stride
  }

  @inlinable
  static var firstOffset: Int { TrampolineLayout.payload + MemoryLayout<OwnerFields>.stride }

  /// How many bytes the block needs behind the trampoline.
  @inlinable
  static var payload: Int { MemoryLayout<OwnerFields>.stride + 2 * step }

  @inlinable
  @inline(__always)
  static func owner(in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<OwnerFields> {
    (block + TrampolineLayout.payload).assumingMemoryBound(to: OwnerFields.self)
  }

  @inlinable
  @inline(__always)
  static func slots(in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<SlotFields> {
    (block + TrampolineLayout.slotFields).assumingMemoryBound(to: SlotFields.self)
  }

  /// Of a slot that has memory.
  @inlinable
  @inline(__always)
  static func place(of slot: Int, in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<State> {
    if isSmall, slot < 2 {
      return (block + (firstOffset &+ slot &* step)).assumingMemoryBound(to: State.self)
    }
    return pointer(to: slot, in: block).pointee.assumingMemoryBound(to: State.self)
  }

  /// Where the pointer to a slot that is apart from the block is kept. It is written once, before the slot is
  /// first shown; showing carries it to readers.
  @inlinable
  static func pointer(
    to slot: Int, in block: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<UnsafeMutableRawPointer> {
    let offset = slot < 2 ? firstOffset &+ slot &* step : TrampolineLayout.places &+ (slot &- 2) &* 8
    return (block + offset).assumingMemoryBound(to: UnsafeMutableRawPointer.self)
  }

  /// Of any slot; the owner, who gives it memory if it has none.
  @inlinable
  @inline(__always)
  static func placeOrNew(of slot: Int, in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<State> {
    if !(isSmall && slot < 2), slots(in: block).pointee.allocated & (1 &<< UInt16(slot)) == 0 {
      allocate(slot, in: block)
    }
    return place(of: slot, in: block)
  }

  @inlinable
  @inline(never)
  static func allocate(_ slot: Int, in block: UnsafeMutableRawPointer) {
    let line = cacheLineSize
    let byteCount = (max(MemoryLayout<State>.size, 1) + line - 1) / line * line
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: byteCount, alignment: max(MemoryLayout<State>.alignment, line))
    pointer(to: slot, in: block).initialize(to: memory)
    slots(in: block).pointee.allocated |= 1 << UInt16(slot)
  }

  @usableFromInline
  static func prepare(_ block: UnsafeMutableRawPointer) {
    precondition(MemoryLayout<SlotFields>.size <= TrampolineLayout.deferredCount - TrampolineLayout.slotFields)
    owner(in: block).initialize(to: OwnerFields(place: block))
    slots(in: block).initialize(to: SlotFields(place: block))
  }

  @usableFromInline
  static func destroy(in block: UnsafeMutableRawPointer) {
    let slots = slots(in: block)
    for slot in 0...Int(privateSlot) {
      let bit: UInt16 = 1 << UInt16(slot)
      if slots.pointee.initialized & bit != 0 { place(of: slot, in: block).deinitialize(count: 1) }
      if slots.pointee.allocated & bit != 0 { pointer(to: slot, in: block).pointee.deallocate() }
    }
  }
}

extension UnsafeMutableRawPointer {
  /// The state that is there.
  @inlinable
  @inline(__always)
  func state<State>(_ type: State.Type) -> UnsafeMutablePointer<State> {
    assumingMemoryBound(to: State.self)
  }
}

extension UnsafeMutablePointer {
  @inlinable
  @inline(__always)
  var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}

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
