/// Rings with one producer each, polled by one consumer. For callers that need the order of each producer's elements, but
/// no order between producers: a send needs no claim that producers share.
///
/// A producer is a handle (``register()``). When the handle is destroyed, what it sent is still received, and its lane
/// then becomes free for another producer. One thread at a time may drain. Elements that are still inside when the lanes
/// are destroyed are destroyed with them.
///
/// The algorithm and its sources are documented in `rr_lanes.h`.
public final class Lanes<Element: ~Copyable> {
  @usableFromInline let raw: CurrentCore.Lanes
  /// The lane at which the next drain begins, so that a limit does not favour the first lane. Only the consumer uses it.
  @usableFromInline let next = OwnerIsolated(0)
  #if DEBUG
    @usableFromInline let drainGuard = OverlapGuard("drain")
  #endif

  /// Creates lanes for at most `limit` producers at a time.
  ///
  /// - Parameters:
  ///   - limit: The largest number of producers, between 1 and 1024.
  ///   - capacity: How many elements fit in each lane; a power of two. A lane's memory is allocated when it is registered
  ///     for the first time.
  ///   - cursor: The first cursor; other than zero only to test wrap-around.
  /// - Throws: ``CoreError``, if an argument is invalid or an allocation fails.
  @inlinable
  public init(limit: Int = 64, capacity: Int, startingAt cursor: UInt64 = 0) throws(CoreError) {
    guard capacity > 0 else { throw .capacityIsZero }
    guard limit > 0 else { throw .laneCountIsInvalid }
    raw = try CurrentCore.Lanes(
      limit: limit, capacity: capacity, size: MemoryLayout<Element>.stride,
      alignment: MemoryLayout<Element>.alignment, startingAt: cursor)
  }

  deinit {
    // Producers retain the lanes, so none is left.
    _ = drain { element in _ = element }
    raw.destroy()
  }

  /// Returns a lane for the caller alone. Any thread.
  ///
  /// - Throws: ``CoreError/lanesExhausted`` while `limit` producers are registered or not yet drained,
  ///   or ``CoreError/outOfMemory``, if a lane is free, but there is no memory for it.
  /// - Complexity: O(limit).
  @inlinable
  public func register() throws(CoreError) -> LaneProducer<Element> {
    LaneProducer(try raw.register(), of: self)
  }

  /// Receives published elements, each producer's oldest first. Consumer.
  ///
  /// Visits the lanes in turn, and receives at most `share` elements of each before the next, until all are empty or
  /// `limit` elements were received.
  ///
  /// - Returns: How many elements were received.
  @inlinable
  @inline(__always)
  public func drain(upTo limit: Int = .max, share: Int = 4096, _ body: (consuming Element) -> Void) -> Int {
    #if DEBUG
      drainGuard.enter()
      defer { drainGuard.leave() }
    #endif
    return raw.drain(upTo: limit, share: share, nextLane: &next.value, body)
  }
}

// Unchecked: any thread may use the raw lanes, which move each element from one thread to exactly one other.
extension Lanes: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// One producer's lane. One thread at a time may use it. Destroying it ends the registration.
///
/// A loop that sends should move the handle to a local variable. The compiler then keeps its cursors in registers, and a
/// send is two stores.
public struct LaneProducer<Element: ~Copyable>: ~Copyable {
  @usableFromInline var raw: CurrentCore.Lanes.Producer
  /// Keeps the memory of the lane alive.
  @usableFromInline let lanes: Lanes<Element>

  @inlinable
  init(_ raw: CurrentCore.Lanes.Producer, of lanes: Lanes<Element>) {
    self.raw = raw
    self.lanes = lanes
  }

  deinit { raw.close() }

  /// Sends one element if there is room. Wait-free. ``SendOutcome/full(_:)`` is truthful: every slot of the lane was
  /// taken at some moment during the call.
  @inlinable
  @inline(__always)
  public mutating func trySend(_ element: consuming Element) -> SendOutcome<Element> {
    raw.trySend(element)
  }
}

// Unchecked: the handle may move to another thread, and `mutating` prevents that two threads use it at the same time.
extension LaneProducer: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// The algorithm of ``Lanes`` for any core: everything but the ownership of the memory.
extension RawLanes {
  /// The same as ``Lanes/drain(upTo:share:_:)``. Begins at the lane `nextLane`, and sets it for the next drain. Consumer.
  @inlinable
  @inline(__always)
  public func drain<Element: ~Copyable>(
    upTo limit: Int, share: Int, nextLane: inout Int, _ body: (consuming Element) -> Void
  ) -> Int {
    var received = 0
    var index = nextLane
    // The drain ends when all lanes, one after the other, were empty.
    var emptyLanes = 0
    while emptyLanes < count, received < limit {
      if index >= count { index = 0 }
      let taken = lane(index).drain(upTo: max(0, min(share, limit - received)), body)
      emptyLanes = taken == 0 ? emptyLanes + 1 : 0
      received += taken
      index += 1
    }
    nextLane = index
    return received
  }
}

extension RawLane {
  /// Receives at most `limit` elements of this lane. Recycles the lane if it is empty and closed. Consumer.
  @inlinable
  @inline(__always)
  func drain<Element: ~Copyable>(upTo limit: Int, _ body: (consuming Element) -> Void) -> Int {
    let ready = ready()
    if ready == 0 {
      recycle()
      return 0
    }
    let taken = min(ready, limit)
    let slots = slots
    let first = head
    for offset in 0..<UInt64(taken) {
      body(slots.payload(first &+ offset, as: Element.self).move())
      // If `body` takes long, the producer must not wait for slots that are already empty.
      if offset & 255 == 255 { release(first &+ offset &+ 1) }
    }
    release(first &+ UInt64(taken))
    return taken
  }
}

extension RawLaneProducer {
  /// Sends one element, of the type for which the lanes were created, if there is room. Wait-free.
  @inlinable
  @inline(__always)
  public mutating func trySend<Element: ~Copyable>(_ element: consuming Element) -> SendOutcome<Element> {
    guard let slot = tryClaim() else { return .full(element) }
    slot.assumingMemoryBound(to: Element.self).initialize(to: element)
    publish()
    return .accepted
  }
}
