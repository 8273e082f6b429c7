/// Rings for one producer each, polled by one consumer: for callers who need only the order of each
/// producer, not one order of all, and want the speed of a send without a shared claim.
///
/// A producer is a handle (``register()``); when the handle goes away, what it sent is still received and
/// its lane becomes free for another. One thread at a time may drain. What is still inside when the lanes
/// go away is destroyed with them.
///
/// The algorithm and its sources stand in `rr_lanes.h`.
public final class LanesOn<C: Core, Element: ~Copyable> {
  @usableFromInline let raw: C.Lanes
  /// The lane that the next drain begins with, so that a limit does not favour the first. The consumer's.
  @usableFromInline let next = OwnerCell(0)
  #if DEBUG
    @usableFromInline let drainGuard = OverlapGuard("drain")
  #endif

  /// Makes lanes for at most `limit` producers at a time with room for `capacity` elements each, a power
  /// of two. A lane's memory is allocated when it is first registered.
  ///
  /// - Throws: What is wrong with the arguments, or ``CoreError/outOfMemory``.
  @inlinable
  public init(limit: Int = 64, capacity: Int, startingAt cursor: UInt64 = 0) throws(CoreError) {
    guard capacity > 0 else { throw .capacityIsZero }
    guard limit > 0 else { throw .laneCountIsInvalid }
    raw = try C.Lanes(
      limit: limit, capacity: capacity, size: MemoryLayout<Element>.stride,
      alignment: MemoryLayout<Element>.alignment, startingAt: cursor)
  }

  deinit {
    // Producers hold the lanes, so none is left.
    _ = drain { element in _ = element }
    raw.destroy()
  }

  /// A lane of the caller's own. Any thread.
  ///
  /// - Throws: ``CoreError/lanesExhausted`` while `limit` producers are registered or not yet drained,
  ///   or ``CoreError/outOfMemory``.
  /// - Complexity: O(limit).
  @inlinable
  public func register() throws(CoreError) -> LaneProducerOn<C, Element> {
    LaneProducerOn(try raw.register(), of: self)
  }

  /// Receives what is published, at most `limit` elements, each producer's oldest first, and answers how
  /// many. Consumer. Lanes are visited in turn, at most `share` elements of each before the next, until none
  /// has anything or the limit is reached.
  @inlinable
  @inline(__always)
  public func drain(upTo limit: Int = .max, share: Int = 4096, _ body: (consuming Element) -> Void) -> Int {
    #if DEBUG
      drainGuard.enter()
      defer { drainGuard.leave() }
    #endif
    var received = 0
    var index = next.value
    // As many lanes in a row as there are without anything end it.
    var emptyLanes = 0
    while emptyLanes < raw.count, received < limit {
      if index >= raw.count { index = 0 }
      let taken = drain(raw.lane(index), upTo: max(0, min(share, limit - received)), body)
      emptyLanes = taken == 0 ? emptyLanes + 1 : 0
      received += taken
      index += 1
    }
    next.value = index
    return received
  }

  @inlinable
  @inline(__always)
  func drain(_ lane: C.Lanes.Lane, upTo limit: Int, _ body: (consuming Element) -> Void) -> Int {
    let ready = lane.ready()
    if ready == 0 {
      lane.recycle()
      return 0
    }
    let taken = min(ready, limit)
    let slots = lane.slots
    let first = lane.head
    for offset in 0..<UInt64(taken) {
      body(slots.payload(first &+ offset, as: Element.self).move())
      // A body that takes long must not keep the producer waiting for slots that are already empty.
      if offset & 255 == 255 { lane.release(first &+ offset &+ 1) }
    }
    lane.release(first &+ UInt64(taken))
    return taken
  }
}

// Unchecked: the raw lanes are made for threads, and hand each element from exactly one to exactly one.
extension LanesOn: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// The lanes of the C core.
public typealias Lanes<Element: ~Copyable> = LanesOn<CCore, Element>
