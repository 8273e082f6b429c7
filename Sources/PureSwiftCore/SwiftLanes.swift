import Glibc
import RawCore
import Synchronization

/// The lanes of the pure-Swift core: `rr_lanes.h` written with `Synchronization` atomics. The guarantees, and the threads
/// that may call each operation, are documented in that file.
@frozen
public struct SwiftLanes: RawLanes, @unchecked Sendable {
  // Unchecked: the pointee consists of constants and an atomic.
  @usableFromInline let constants: UnsafeMutablePointer<Constants>

  @frozen
  @usableFromInline
  struct Constants {
    @usableFromInline let lanes: UnsafeMutableRawPointer
    @usableFromInline let limit: Int
    @usableFromInline let capacity: Int
    @usableFromInline let stride: Int
  }

  static var largestLimit: Int { 1024 }

  public init(
    limit: Int, capacity: Int, size: Int, alignment: Int, startingAt start: UInt64
  ) throws(CoreError) {
    guard limit > 0, limit <= Self.largestLimit else { throw .laneCountIsInvalid }
    try SlotLimits.check(capacity: capacity, size: size, alignment: alignment)
    let memory = try CacheLine.allocate(byteCount: 2 * CacheLine.size)
    let lanes: UnsafeMutableRawPointer
    do {
      lanes = try CacheLine.allocate(byteCount: limit * SwiftLane.lines * CacheLine.size)
    } catch {
      free(memory)
      throw error
    }
    let stride = CacheLine.roundUp(size, to: alignment)
    for index in 0..<limit {
      SwiftLane.place(index, of: lanes, mask: UInt64(capacity - 1), stride: stride, startingAt: start)
    }
    constants = CacheLine.place(
      Constants(lanes: lanes, limit: limit, capacity: capacity, stride: stride), inLine: 0, of: memory)
    CacheLine.place(Atomic<UInt32>(0), inLine: 1, of: memory)
  }

  public func destroy() {
    for index in 0..<constants.pointee.limit { free(lane(index).shared.pointee.slots) }
    free(constants.pointee.lanes)
    free(constants)
  }

  public func register() throws(CoreError) -> SwiftLaneProducer {
    var reason = CoreError.lanesExhausted
    for index in 0..<constants.pointee.limit {
      let lane = lane(index)
      guard lane.tryTake() else { continue }
      do throws(CoreError) {
        return SwiftLaneProducer(lane, slots: try slots(of: lane, index))
      } catch {
        // A later lane may have its memory already.
        reason = error
      }
    }
    throw reason
  }

  /// Returns the slots of a lane that the caller took. Allocates them if this is the first producer of the lane.
  private func slots(of lane: SwiftLane, _ index: Int) throws(CoreError) -> UnsafeMutableRawPointer {
    if lane.shared.pointee.slots == nil {
      do {
        lane.shared.pointee.slots = try CacheLine.allocate(
          byteCount: constants.pointee.capacity * constants.pointee.stride)
      } catch {
        lane.giveBack()
        throw error
      }
    }
    raiseCount(toInclude: UInt32(index))
    // Not nil: allocated above, or by an earlier producer.
    return lane.shared.pointee.slots.unsafelyUnwrapped
  }

  @inlinable
  public var count: Int {
    // Relaxed: the count only says how many lanes to poll. LANE_ITEM carries what the consumer finds in them.
    Int(truncatingIfNeeded: takenCount.pointee.load(ordering: .relaxed))
  }

  @inlinable
  public func lane(_ index: Int) -> SwiftLane {
    let offset = index &* (SwiftLane.lines &* CacheLine.size)
    return SwiftLane(
      constants.pointee.lanes.advanced(by: offset).assumingMemoryBound(to: SwiftLane.Shared.self))
  }

  /// How many lanes were ever taken. The consumer polls these.
  @inlinable
  var takenCount: UnsafeMutablePointer<Atomic<UInt32>> { constants.afterLines(1, as: Atomic<UInt32>.self) }

  /// Makes the consumer poll the lane `index` too.
  private func raiseCount(toInclude index: UInt32) {
    var count = takenCount.pointee.load(ordering: .relaxed)
    while count <= index {
      // Relaxed: as in ``count``.
      let (isRaised, current) = takenCount.pointee.compareExchange(
        expected: count, desired: index + 1, ordering: .relaxed)
      if isRaised { return }
      count = current
    }
  }
}

extension SwiftLane {
  /// Free → taken. Any thread; the first one succeeds.
  fileprivate func tryTake() -> Bool {
    // Relaxed: the compare-and-swap repeats this load, which avoids a read-modify-write for a lane that is taken.
    guard shared.pointee.state.load(ordering: .relaxed) == Self.stateFree else { return false }
    // LANE_STATE: what the previous producer wrote, from the consumer's recycling.
    return shared.pointee.state.compareExchange(
      expected: Self.stateFree, desired: Self.stateTaken, successOrdering: .acquiring,
      failureOrdering: .relaxed
    ).exchanged
  }

  /// Taken → free, when there is no memory for the slots. Does not go through closed, because the consumer may not poll
  /// this lane yet.
  fileprivate func giveBack() {
    // LANE_STATE: to the next producer that takes the lane.
    shared.pointee.state.store(Self.stateFree, ordering: .releasing)
  }
}

/// One lane of ``SwiftLanes``: `rr_lane` of `rr_lanes.h`, which has a diagram of its states.
///
/// It has three cache lines (constants and state, producer, consumer); the slots are a separate allocation.
@frozen
public struct SwiftLane: RawLane, @unchecked Sendable {
  // Unchecked: the pointee consists of atomics, and of fields that belong to one side each. The lane's first producer
  // writes `slots` before its first publication.
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
    // Not nil: the caller has registered, or has seen a publication of a producer that has.
    RawSlots(
      base: shared.pointee.slots.unsafelyUnwrapped, mask: shared.pointee.mask, stride: shared.pointee.stride)
  }
}

// MARK: The consumer, one thread at a time
extension SwiftLane {
  @inlinable
  public var head: UInt64 { consumer.pointee.head.load(ordering: .relaxed) }

  @inlinable
  public func ready() -> Int {
    let head = consumer.pointee.head.load(ordering: .relaxed)
    var tail = consumer.pointee.tailSeen
    if tail == head {
      // LANE_ITEM: the payloads before that tail, from the producer's publication.
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
    // LANE_STATE: the state before the cursor, because a tail that is loaded after "closed" is final.
    guard shared.pointee.state.load(ordering: .acquiring) == Self.stateClosed else { return }
    guard ready() == 0 else { return }
    // LANE_STATE: the consumer's fields and the emptied slots, to the next producer.
    shared.pointee.state.store(Self.stateFree, ordering: .releasing)
  }
}

/// The producer's side of a ``SwiftLane``. It is a value, so that a loop that sends keeps it in registers.
@frozen
public struct SwiftLaneProducer: RawLaneProducer, @unchecked Sendable {
  // Unchecked: the pointees are atomics, and slots that belong to the producer until it publishes them.
  @usableFromInline let lane: SwiftLane
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let mask: UInt64
  @usableFromInline let stride: Int
  @usableFromInline var tail: UInt64
  @usableFromInline var headSeen: UInt64

  /// - Parameter lane: A lane that the caller took and that has slots.
  init(_ lane: SwiftLane, slots: UnsafeMutableRawPointer) {
    self.lane = lane
    self.slots = slots
    mask = lane.shared.pointee.mask
    stride = lane.shared.pointee.stride
    tail = lane.tail.pointee.load(ordering: .relaxed)
    // Relaxed: LANE_STATE has carried the head, with the emptied slots.
    headSeen = lane.consumer.pointee.head.load(ordering: .relaxed)
  }

  @inlinable
  public mutating func tryClaim() -> UnsafeMutableRawPointer? {
    if tail &- headSeen > mask {
      // LANE_SPACE: the slots before that head are emptied, from the consumer's release.
      headSeen = lane.consumer.pointee.head.load(ordering: .acquiring)
      if tail &- headSeen > mask { return nil }
    }
    return slots.advanced(by: Int(truncatingIfNeeded: tail & mask) &* stride)
  }

  @inlinable
  public mutating func publish() {
    tail &+= 1
    // LANE_ITEM: keeps the retains of the payload before the store; see `rr_store_release`.
    atomicMemoryFence(ordering: .releasing)
    // LANE_ITEM: the payload, to the consumer's load of the tail.
    lane.tail.pointee.store(tail, ordering: .releasing)
  }

  @inlinable
  public func close() {
    // LANE_STATE: the producer's last store: a tail that is loaded after it is final.
    lane.shared.pointee.state.store(SwiftLane.stateClosed, ordering: .releasing)
  }
}
