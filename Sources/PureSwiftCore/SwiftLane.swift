import Glibc
import RawCore
import Synchronization

/// One lane of ``SwiftLanes``: `rr_lane` of `rr_lanes.h`, where its states are drawn.
///
/// Three cache lines (constants and state, producer, consumer), and the slots apart from them.
@frozen
public struct SwiftLane: RawLane, @unchecked Sendable {
  // Unchecked: behind the pointer are atomics, and fields that belong to one side each. `slots` is written
  // by the lane's first producer before its first publication.
  @usableFromInline let shared: UnsafeMutablePointer<Shared>

  @inlinable
  init(_ shared: UnsafeMutablePointer<Shared>) { self.shared = shared }

  @frozen
  @usableFromInline
  struct Shared: ~Copyable {
    /// Nil until the lane is taken for the first time.
    @usableFromInline var slots: UnsafeMutableRawPointer?
    @usableFromInline let mask: UInt64
    @usableFromInline let stride: Int
    @usableFromInline let state: Atomic<UInt32>
  }

  @frozen
  @usableFromInline
  struct Consumer: ~Copyable {
    @usableFromInline let head: Atomic<UInt64>
    @usableFromInline var tailSeen: UInt64
  }

  @inlinable
  static var stateFree: UInt32 { 0 }
  @inlinable
  static var stateTaken: UInt32 { 1 }
  @inlinable
  static var stateClosed: UInt32 { 2 }

  /// How many cache lines a lane takes.
  @inlinable
  static var lines: Int { 3 }

  /// Makes lane number `index` in `memory`, free and without slots.
  static func place(
    _ index: Int, of memory: UnsafeMutableRawPointer, mask: UInt64, stride: Int, startingAt start: UInt64
  ) {
    let line = index * lines
    CacheLine.place(
      Shared(slots: nil, mask: mask, stride: stride, state: Atomic(stateFree)), inLine: line, of: memory)
    CacheLine.place(Atomic<UInt64>(start), inLine: line + 1, of: memory)
    CacheLine.place(Consumer(head: Atomic(start), tailSeen: start), inLine: line + 2, of: memory)
  }

  @inlinable
  var tail: UnsafeMutablePointer<Atomic<UInt64>> { shared.afterLines(1, as: Atomic<UInt64>.self) }

  @inlinable
  var consumer: UnsafeMutablePointer<Consumer> { shared.afterLines(2, as: Consumer.self) }

  @inlinable
  public var slots: RawSlots {
    // Whoever asks has registered, or has seen a publication of who did.
    RawSlots(
      base: shared.pointee.slots.unsafelyUnwrapped, mask: shared.pointee.mask, stride: shared.pointee.stride)
  }
}

// The consumer: one thread at a time.
extension SwiftLane {
  @inlinable
  public var head: UInt64 { consumer.pointee.head.load(ordering: .relaxed) }

  @inlinable
  public func ready() -> Int {
    let head = consumer.pointee.head.load(ordering: .relaxed)
    var tail = consumer.pointee.tailSeen
    if tail == head {
      // LANE_ITEM: the payloads before it, from the producer's publication.
      tail = self.tail.pointee.load(ordering: .acquiring)
      consumer.pointee.tailSeen = tail
    }
    return Int(truncatingIfNeeded: tail &- head)
  }

  @inlinable
  public func release(_ cursor: UInt64) {
    // LANE_SPACE: the slots before `cursor` are emptied, to the producer.
    consumer.pointee.head.store(cursor, ordering: .releasing)
  }

  @inlinable
  public func recycle() {
    // LANE_STATE: first the state, then the cursor: closed is the producer's last word.
    guard shared.pointee.state.load(ordering: .acquiring) == Self.stateClosed else { return }
    guard ready() == 0 else { return }
    // LANE_STATE: the consumer's fields and the emptied slots, to the next producer.
    shared.pointee.state.store(Self.stateFree, ordering: .releasing)
  }
}
