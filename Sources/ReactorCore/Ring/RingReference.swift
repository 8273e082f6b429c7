import Synchronization

/// The address of a ring that may be replaced by another one while threads send.
///
/// A sender reaches the ring with one load, where a reference to an object that has a ring would take two. The difference
/// is about a tenth of the cost of a send.
///
/// Unsafe: the rings must live as long as this is used, and must have been created for elements of the type that is sent.
@unsafe
public struct RingReference: ~Copyable, Sendable {
  /// 0 if there is no ring.
  @usableFromInline let address = Atomic<UInt>(0)

  /// A reference to no ring.
  public init() {}

  /// Sends one element if there is a ring and it has room. Any thread.
  // Acquire: the initialization of the ring, from the release in `follow`.
  @inlinable
  @inline(__always)
  public func trySend<Element>(_ element: Element) -> Bool {
    guard let address = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return false }
    return CurrentCore.Ring(at: address).trySend(element).isAccepted
  }

  /// Requests what the consumer needs of the ring, without waiting for it. The consumer, or a thread that is about to be.
  @inlinable
  public func prefetch() {
    // Relaxed: nothing is read through the address.
    guard let ring = UnsafeRawPointer(bitPattern: address.load(ordering: .relaxed)) else { return }
    // What is constant, what the producers write, and what the consumer writes.
    for line in 0..<3 { Prefetch.pair(ring + line * cacheLineSize) }
  }

  /// Sends elements with one claim, as many as there is room for. Any thread; lock-free.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - make: Creates them in place, and must not send to this ring.
  /// - Returns: How many were sent; also 0 if another thread took the room meanwhile.
  @inlinable
  public func trySend<Element>(upTo limit: Int, _ make: (Int) -> Element) -> Int {
    guard let address = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return 0 }
    let ring = CurrentCore.Ring(at: address)
    let count = min(limit, ring.capacity - ring.wasCount)
    if count < 1 { return 0 }
    return ring.trySend(count: count, make) == .accepted ? count : 0
  }

  /// Replaces the ring by the newest one. Any thread.
  ///
  /// - Parameter newest: Returns the address of the newest ring; a later call must never return an older one. It is called
  ///   after the current address was loaded, and the exchange requires that address. So if two calls overlap, neither
  ///   replaces a ring by an older one.
  @inlinable
  public func follow(_ newest: () -> UnsafeRawPointer?) {
    // Acquire: so that this load comes before those of `newest`.
    let old = address.load(ordering: .acquiring)
    if let newest = newest(), case let new = UInt(bitPattern: newest), new != old {
      // Release: the initialization of the ring, to the threads that send.
      _ = address.compareExchange(expected: old, desired: new, ordering: .releasing)
    }
  }
}
