/// The places of the states of an owned state: in the trampoline's block behind the owner's fields, or in separate
/// allocations.
///
/// Small states have their first two slots in the block. As long as no slot is found pinned, the owner uses these two in
/// turn. They share a cache line with each other and with the owner's fields, so a thread that reads often must not read
/// there: once a slot was found pinned, the owner uses the other slots. Those have cache lines of their own, and are
/// allocated one by one.
@usableFromInline
enum StatePlaces<State> {
  /// Whether the first two states fit in the block.
  @inlinable
  static var isSmall: Bool {
    MemoryLayout<State>.stride <= 64 && MemoryLayout<State>.alignment <= 16
  }

  /// The distance between the first two slots, which contain states or pointers to them.
  @inlinable
  static var step: Int {
    isSmall ? MemoryLayout<State>.stride : MemoryLayout<UnsafeMutableRawPointer>.stride
  }

  @inlinable
  static var firstOffset: Int { TrampolineLayout.payload + MemoryLayout<OwnerFields>.stride }

  /// The number of bytes that the block needs behind the trampoline.
  @inlinable
  static var payload: Int { MemoryLayout<OwnerFields>.stride + 2 * step }

  /// The place of a slot that has memory.
  @inlinable
  @inline(__always)
  static func place(of slot: Int, in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<State> {
    if isSmall, slot < 2 {
      return (block + (firstOffset &+ slot &* step)).assumingMemoryBound(to: State.self)
    }
    return pointer(to: slot, in: block).pointee.assumingMemoryBound(to: State.self)
  }

  /// Where the block keeps the pointer to a slot that is a separate allocation. The owner writes it once, before the slot
  /// is published for the first time; the publication carries it to readers.
  @inlinable
  static func pointer(
    to slot: Int, in block: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<UnsafeMutableRawPointer> {
    if slot < 2 {
      return (block + (firstOffset &+ slot &* step)).assumingMemoryBound(to: UnsafeMutableRawPointer.self)
    }
    // Not nil: the table is made before the first of these slots.
    return table(in: block).pointee.unsafelyUnwrapped + (slot &- 2)
  }

  /// Where the block keeps the table of the pointers to the slots from the third on. Most states never need them.
  @inlinable
  static func table(
    in block: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutableRawPointer>?> {
    (block + TrampolineLayout.places)
      .assumingMemoryBound(to: UnsafeMutablePointer<UnsafeMutableRawPointer>?.self)
  }

  /// The place of any slot. Allocates its memory if it has none. The owner.
  @inlinable
  @inline(__always)
  static func placeOrNew(of slot: Int, in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<State> {
    if !(isSmall && slot < 2), SlotFields.pointer(in: block).pointee.allocated & (1 &<< UInt16(slot)) == 0 {
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
    if slot >= 2, table(in: block).pointee == nil {
      // On a line of its own: readers load from it what never changes.
      let memory = UnsafeMutableRawPointer.allocate(byteCount: line, alignment: line)
      table(in: block).pointee = memory.bindMemory(
        to: UnsafeMutableRawPointer.self, capacity: Int(privateSlot) - 1)
    }
    pointer(to: slot, in: block).initialize(to: memory)
    SlotFields.pointer(in: block).pointee.allocated |= 1 << UInt16(slot)
  }

  @usableFromInline
  static func prepare(_ block: UnsafeMutableRawPointer) {
    let room = TrampolineLayout.slotFieldsEnd - TrampolineLayout.slotFields
    precondition(MemoryLayout<SlotFields>.size <= room)
    let offsets = [
      MemoryLayout<SlotFields>.offset(of: \.published), MemoryLayout<SlotFields>.offset(of: \.current),
      MemoryLayout<SlotFields>.offset(of: \.spare), MemoryLayout<SlotFields>.offset(of: \.change),
    ]
    assert(offsets == (0..<4).map { SlotFields.offsetOfPublished + $0 }, "see SlotFields.numbers(of:)")
    table(in: block).initialize(to: nil)
    OwnerFields.pointer(in: block).initialize(to: OwnerFields(place: block))
    SlotFields.pointer(in: block).initialize(to: SlotFields(place: block))
  }

  @usableFromInline
  static func destroy(in block: UnsafeMutableRawPointer) {
    let slots = SlotFields.pointer(in: block)
    for slot in 0...Int(privateSlot) {
      let bit: UInt16 = 1 << UInt16(slot)
      if slots.pointee.initialized & bit != 0 { place(of: slot, in: block).deinitialize(count: 1) }
      if slots.pointee.allocated & bit != 0 { pointer(to: slot, in: block).pointee.deallocate() }
    }
    if let table = table(in: block).pointee { UnsafeMutableRawPointer(table).deallocate() }
  }
}
