import Synchronization

/// A ring that others send to, and that may be replaced by another one: what a sender needs of it is one load
/// away, where a reference to an object that has a ring would be two. That is about a tenth of what a send costs.
///
/// Unsafe: the rings must live as long as this is used, and have been made for elements of the type that is sent.
@unsafe
public struct RingReference: ~Copyable, Sendable {
  /// 0 if there is none.
  @usableFromInline let address = Atomic<UInt>(0)

  /// Of no ring.
  public init() {}

  /// Sends one element if there is a ring, with room. Any thread.
  // Acquire: the other side of `follow`.
  @inlinable
  @inline(__always)
  public func trySend<Element>(_ element: Element) -> Bool {
    guard let address = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return false }
    return CurrentCore.Ring(at: address).trySend(element).isAccepted
  }

  /// Goes on to the newest ring. Any thread.
  ///
  /// - Parameter newest: Answers which that is. What it answers later is never older, so of two calls that overlap
  ///   neither goes back: it is asked after the old one was read, which must still be there.
  @inlinable
  public func follow(_ newest: () -> UnsafeRawPointer?) {
    // Release: how the ring was made, to who sends.
    let old = address.load(ordering: .relaxed)
    if let newest = newest(), case let new = UInt(bitPattern: newest), new != old {
      _ = address.compareExchange(expected: old, desired: new, ordering: .releasing)
    }
  }
}
