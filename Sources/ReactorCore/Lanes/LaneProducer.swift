/// One producer's lane. One thread at a time may use it; when it goes away, so does the registration.
public struct LaneProducerOn<C: Core, Element: ~Copyable>: ~Copyable {
  @usableFromInline let lane: C.Lanes.Lane
  // Keeps the memory of the lane.
  @usableFromInline let lanes: LanesOn<C, Element>

  @inlinable
  init(lane: C.Lanes.Lane, of lanes: LanesOn<C, Element>) {
    self.lane = lane
    self.lanes = lanes
  }

  @inlinable
  deinit { lane.close() }

  /// Sends one element if there is room. Wait-free; `full` is truthful.
  @inlinable
  @inline(__always)
  public mutating func trySend(_ element: consuming Element) -> SendOutcome<Element> {
    guard let cursor = lane.tryClaim() else { return .full(element) }
    lane.payload(cursor).assumingMemoryBound(to: Element.self).initialize(to: element)
    lane.publish(cursor)
    return .accepted
  }
}

// Unchecked: the handle may move to another thread; `mutating` keeps two threads from using it at once.
extension LaneProducerOn: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// A producer's lane of the C core.
public typealias LaneProducer<Element: ~Copyable> = LaneProducerOn<CCore, Element>
