/// What became of a send. An element that was not accepted comes back.
@frozen
public enum SendOutcome<Element: ~Copyable>: ~Copyable {
  case accepted
  case full(Element)
  case closed(Element)

  /// Whether the element is on its way.
  @inlinable
  public var isAccepted: Bool {
    switch self {
    case .accepted: true
    case .full: false
    case .closed: false
    }
  }
}

extension SendOutcome: Copyable where Element: Copyable {}
extension SendOutcome: Sendable where Element: Sendable & ~Copyable {}

/// What became of a send of several elements.
@frozen
public enum BatchOutcome: Equatable, Sendable {
  case accepted
  case full
  case closed
  /// The count is zero, negative, or larger than the capacity: it would never be accepted.
  case invalidCount
}

extension RingOn where Element: ~Copyable {
  /// Sends one element if there is room. Any thread; lock-free; never waits for the consumer.
  ///
  /// ``SendOutcome/full(_:)`` is truthful: there was a moment during the call at which every slot was
  /// taken.
  @inlinable
  @inline(__always)
  public func trySend(_ element: consuming Element) -> SendOutcome<Element> { raw.trySend(element) }

  /// Sends `count` elements, all or none, made in place by `make(0)`, …, `make(count - 1)`, which must not
  /// send to this ring. They are received one after the other, with nothing in between.
  ///
  /// One claim for all of them and one publication for every 127; that is why a batch costs a fraction of
  /// single sends. Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func trySend(count: Int, _ make: (Int) -> Element) -> BatchOutcome {
    switch raw.tryClaim(count) {
    case .claimed(let cursor):
      let slots = raw.slots
      for index in 0..<count {
        let slot = cursor &+ UInt64(truncatingIfNeeded: index)
        slots.payload(slot, as: Element.self).initialize(to: make(index))
      }
      raw.publish(cursor, count: count)
      return .accepted
    case .full: return .full
    case .closed: return .closed
    case .invalidCount: return .invalidCount
    }
  }
}
