/// Rings for one producer each, polled by one consumer: for callers who need only the order of each
/// producer, not one order of all, and want the speed of a send without a shared claim.
///
/// A producer is a handle (``register()``); when the handle goes away, what it sent is still received and
/// its lane becomes free for another. One thread at a time may drain. What is still inside when the lanes
/// go away is destroyed with them.
///
/// The algorithm and its sources stand in `rr_lanes.h`.
public final class Lanes<Element: ~Copyable> {
  @usableFromInline let raw: CurrentCore.Lanes
  /// The lane that the next drain begins with, so that a limit does not favour the first. The consumer's.
  @usableFromInline let next = OwnerIsolated(0)
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
    raw = try CurrentCore.Lanes(
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
  public func register() throws(CoreError) -> LaneProducer<Element> {
    LaneProducer(try raw.register(), of: self)
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
    return raw.drain(upTo: limit, share: share, nextLane: &next.value, body)
  }
}

// Unchecked: the raw lanes are made for threads, and hand each element from exactly one to exactly one.
extension Lanes: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// One producer's lane. One thread at a time may use it; when it goes away, so does the registration.
///
/// A loop that sends takes the handle into a local variable: then the compiler keeps its cursors in
/// registers, and a send is two stores.
public struct LaneProducer<Element: ~Copyable>: ~Copyable {
  @usableFromInline var raw: CurrentCore.Lanes.Producer
  /// Keeps the memory of the lane.
  @usableFromInline let lanes: Lanes<Element>

  @inlinable
  init(_ raw: CurrentCore.Lanes.Producer, of lanes: Lanes<Element>) {
    self.raw = raw
    self.lanes = lanes
  }

  deinit { raw.close() }

  /// Sends one element if there is room. Wait-free; `full` is truthful.
  @inlinable
  @inline(__always)
  public mutating func trySend(_ element: consuming Element) -> SendOutcome<Element> {
    raw.trySend(element)
  }
}

// Unchecked: the handle may move to another thread; `mutating` keeps two threads from using it at once.
extension LaneProducer: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// What lanes do with elements, apart from owning their memory: the algorithm of ``Lanes``, for any core.
extension RawLanes {
  /// As ``Lanes/drain(upTo:share:_:)``; `nextLane` is the lane to begin with, and becomes that of the next drain.
  /// Consumer.
  @inlinable
  @inline(__always)
  public func drain<Element: ~Copyable>(
    upTo limit: Int, share: Int, nextLane: inout Int, _ body: (consuming Element) -> Void
  ) -> Int {
    var received = 0
    var index = nextLane
    // The drain ends after as many empty lanes in a row as there are lanes.
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
      // A body that takes long must not keep the producer waiting for slots that are already empty.
      if offset & 255 == 255 { release(first &+ offset &+ 1) }
    }
    release(first &+ UInt64(taken))
    return taken
  }
}

extension RawLaneProducer {
  /// Sends one element of the type that the lanes were made for, if there is room. Wait-free.
  @inlinable
  @inline(__always)
  public mutating func trySend<Element: ~Copyable>(_ element: consuming Element) -> SendOutcome<Element> {
    guard let slot = tryClaim() else { return .full(element) }
    slot.assumingMemoryBound(to: Element.self).initialize(to: element)
    publish()
    return .accepted
  }
}
