/// One producer's lane. One thread at a time may use it; when it goes away, so does the registration.
///
/// A loop that sends takes the handle into a local variable: then the compiler keeps its cursors in
/// registers, and a send is two stores.
public struct LaneProducerOn<C: Core, Element: ~Copyable>: ~Copyable {
  @usableFromInline var raw: C.Lanes.Producer
  @usableFromInline let keeper: LaneKeeper<C, Element>

  @inlinable
  init(_ raw: C.Lanes.Producer, of lanes: LanesOn<C, Element>) {
    self.raw = raw
    keeper = LaneKeeper(raw, of: lanes)
  }

  /// Sends one element if there is room. Wait-free; `full` is truthful.
  @inlinable
  @inline(__always)
  public mutating func trySend(_ element: consuming Element) -> SendOutcome<Element> {
    guard let slot = raw.tryClaim() else { return .full(element) }
    slot.assumingMemoryBound(to: Element.self).initialize(to: element)
    raw.publish()
    return .accepted
  }
}

// Unchecked: it is used by whoever lets the last reference go.
extension LaneKeeper: @unchecked Sendable where Element: ~Copyable {}

// Unchecked: the handle may move to another thread; `mutating` keeps two threads from using it at once.
extension LaneProducerOn: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// Keeps the memory of a lane, and ends its registration when its producer goes away; why it is an object:
/// see `RawKeeper`.
@usableFromInline
final class LaneKeeper<C: Core, Element: ~Copyable> {
  /// As it was at registration; closing needs no more.
  private let raw: C.Lanes.Producer
  private let lanes: LanesOn<C, Element>

  @usableFromInline
  init(_ raw: C.Lanes.Producer, of lanes: LanesOn<C, Element>) {
    self.raw = raw
    self.lanes = lanes
  }

  deinit { raw.close() }
}

/// A producer's lane of the C core.
public typealias LaneProducer<Element: ~Copyable> = LaneProducerOn<CCore, Element>
