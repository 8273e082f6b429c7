import Glibc
import RawCore
import Synchronization

/// The lanes of the pure-Swift core: `rr_lanes.h` written with `Synchronization` atomics. What they promise
/// and which thread may call what stand in that file.
@frozen
public struct SwiftLanes: RawLanes, @unchecked Sendable {
  // Unchecked: behind the pointer are constants and an atomic.
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
    for index in 0..<constants.pointee.limit {
      let lane = lane(index)
      guard lane.take() else { continue }
      return SwiftLaneProducer(lane, slots: try slots(of: lane, index))
    }
    throw .lanesExhausted
  }

  /// The slots of a lane that the caller took; allocated if it is the first who did.
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
    extend(to: UInt32(index))
    // Allocated above, if not before.
    return lane.shared.pointee.slots.unsafelyUnwrapped
  }

  @inlinable
  public var count: Int {
    // Relaxed: what is found in the lanes is carried by them.
    Int(truncatingIfNeeded: wasTaken.pointee.load(ordering: .relaxed))
  }

  @inlinable
  public func lane(_ index: Int) -> SwiftLane {
    let offset = index &* (SwiftLane.lines &* CacheLine.size)
    return SwiftLane(
      constants.pointee.lanes.advanced(by: offset).assumingMemoryBound(to: SwiftLane.Shared.self))
  }

  /// How many lanes were ever taken: the consumer polls these.
  @inlinable
  var wasTaken: UnsafeMutablePointer<Atomic<UInt32>> { constants.afterLines(1, as: Atomic<UInt32>.self) }

  /// Tells the consumer to poll `index` too.
  private func extend(to index: UInt32) {
    var count = wasTaken.pointee.load(ordering: .relaxed)
    while count <= index {
      // Relaxed: likewise.
      let (isExtended, current) = wasTaken.pointee.compareExchange(
        expected: count, desired: index + 1, ordering: .relaxed)
      if isExtended { return }
      count = current
    }
  }
}

extension SwiftLane {
  /// Free → taken. Any thread; the first one wins.
  fileprivate func take() -> Bool {
    // Relaxed: a first look, so that a lane that is taken costs no read-modify-write.
    guard shared.pointee.state.load(ordering: .relaxed) == Self.stateFree else { return false }
    // LANE_STATE: what the producer before left behind, from the consumer's recycling.
    return shared.pointee.state.compareExchange(
      expected: Self.stateFree, desired: Self.stateTaken, successOrdering: .acquiring,
      failureOrdering: .relaxed
    ).exchanged
  }

  /// Taken → free, when there was no memory for the slots. Not through closed: the consumer may not poll
  /// this lane yet.
  fileprivate func giveBack() {
    // LANE_STATE: to the next who takes it.
    shared.pointee.state.store(Self.stateFree, ordering: .releasing)
  }
}
