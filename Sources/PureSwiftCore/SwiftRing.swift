import Glibc
import RawCore
import Synchronization

/// The ring of the pure-Swift core: `rr_ring.h` written with `Synchronization` atomics. What it promises,
/// which thread may call what, and the picture of a slot's word stand in that file.
///
/// Three cache lines (constants, producers, consumer), and the slots apart from them.
@frozen
public struct SwiftRing: RawRing, @unchecked Sendable {
  // Unchecked: behind the pointer are constants, atomics, and `runLeft`, which only the consumer uses.
  @usableFromInline let constants: UnsafeMutablePointer<Constants>

  @frozen
  @usableFromInline
  struct Constants {
    @usableFromInline let slots: UnsafeMutableRawPointer
    @usableFromInline let mask: UInt64
    @usableFromInline let capacity: UInt64
    /// Bytes from slot to slot, the word included.
    @usableFromInline let stride: Int
    /// Bytes from the slot's start to its payload.
    @usableFromInline let payloadOffset: Int
  }

  @frozen
  @usableFromInline
  struct Producers: ~Copyable {
    /// The claim cursor, doubled, and in bit 0 whether the ring is closed.
    @usableFromInline let tail: Atomic<UInt64>
    /// Some recent head: spares the consumer's line.
    @usableFromInline let headSeen: Atomic<UInt64>
  }

  @frozen
  @usableFromInline
  struct Consumer: ~Copyable {
    /// Everything before it is released.
    @usableFromInline let head: Atomic<UInt64>
    /// Slots at head that a peeked run still holds: only the run's first slot has its word.
    @usableFromInline var runLeft: UInt32
  }

  public init(capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError) {
    try SlotLimits.check(capacity: capacity, size: size, alignment: alignment)
    let payloadOffset = max(alignment, MemoryLayout<UInt64>.size)
    // A multiple of 16: a slot of up to 64 bytes whose stride divides a line never straddles two.
    let stride = CacheLine.roundUp(payloadOffset + size, to: max(alignment, 16))
    let memory = try CacheLine.allocate(byteCount: 3 * CacheLine.size)
    let slots: UnsafeMutableRawPointer
    do {
      slots = try CacheLine.allocate(byteCount: capacity * stride)
    } catch {
      free(memory)
      throw error
    }
    let mask = UInt64(capacity - 1)
    let first = start & (UInt64.max >> 1)
    constants = CacheLine.place(
      Constants(
        slots: slots, mask: mask, capacity: UInt64(capacity), stride: stride,
        payloadOffset: payloadOffset),
      inLine: 0, of: memory)
    CacheLine.place(Producers(tail: Atomic(first &* 2), headSeen: Atomic(first)), inLine: 1, of: memory)
    CacheLine.place(Consumer(head: Atomic(first), runLeft: 0), inLine: 2, of: memory)
    // Run 0 at the right cursor, which is never published: "nothing yet", whatever `start` is.
    for index in 0..<UInt64(capacity) {
      let cursor = first &+ index
      let slot = slots.advanced(by: Int(cursor & mask) * stride)
      slot.bindMemory(to: Atomic<UInt64>.self, capacity: 1).initialize(to: Atomic(cursor &<< 8))
    }
  }

  @inlinable
  public var address: UnsafeRawPointer { UnsafeRawPointer(constants) }

  @inlinable
  public init(at address: UnsafeRawPointer) {
    constants = UnsafeMutableRawPointer(mutating: address).assumingMemoryBound(to: Constants.self)
  }

  public func restart(head: UInt64, tail: UInt64) {
    let first = head & (UInt64.max >> 1)
    // Relaxed: nobody else knows the ring yet.
    producers.pointee.tail.store(tail &* 2, ordering: .relaxed)
    producers.pointee.headSeen.store(first, ordering: .relaxed)
    consumer.pointee.head.store(first, ordering: .relaxed)
  }

  public func destroy() {
    free(constants.pointee.slots)
    free(constants)
  }

  @inlinable
  public var capacity: Int { Int(truncatingIfNeeded: constants.pointee.capacity) }

  @inlinable
  public var slots: RawSlots {
    RawSlots(
      base: slot(0).advanced(by: constants.pointee.payloadOffset), mask: constants.pointee.mask,
      stride: constants.pointee.stride)
  }
}

// MARK: Layout

extension SwiftRing {
  @inlinable
  var producers: UnsafeMutablePointer<Producers> { constants.afterLines(1, as: Producers.self) }

  @inlinable
  var consumer: UnsafeMutablePointer<Consumer> { constants.afterLines(2, as: Consumer.self) }

  @inlinable
  func slot(_ cursor: UInt64) -> UnsafeMutableRawPointer {
    let index = Int(truncatingIfNeeded: cursor & constants.pointee.mask)
    return constants.pointee.slots.advanced(by: index &* constants.pointee.stride)
  }

  /// The word of the slot at `cursor`. A pointer, because an atomic that is returned would be moved.
  @inlinable
  func word(_ cursor: UInt64) -> UnsafeMutablePointer<Atomic<UInt64>> {
    slot(cursor).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// The longest run that one word can name.
  @inlinable
  static var longestRun: UInt64 { 127 }

  /// Set in a word whose run was abandoned.
  @inlinable
  static var skipFlag: UInt64 { 128 }
}
