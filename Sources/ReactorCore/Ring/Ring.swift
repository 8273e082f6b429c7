/// A bounded multi-producer single-consumer ring that moves Swift values of any kind, copyable or not,
/// through its slots: no box, no allocation, no lock.
///
/// Any thread may send. One thread at a time may drain; handing that role to another thread needs a
/// happens-before edge of the caller's own (a join, a lock, a ``Trampoline``). In debug builds, two drains
/// that overlap stop the program.
///
/// Elements are received in the order of their claims: elements of one thread in the order in which it
/// sent them, and an element whose send returned before another send began before that other one.
///
/// What is still inside when the ring goes away is destroyed with it.
///
/// The algorithm and its sources stand in `rr_ring.h`.
public struct RingOn<C: Core, Element: ~Copyable>: ~Copyable {
  @usableFromInline let raw: C.Ring
  // Destroys the ring.
  @usableFromInline let keeper: RingKeeper<C, Element>
  #if DEBUG
    @usableFromInline let drainGuard = OverlapGuard("drain")
  #endif

  /// Makes a ring of `capacity` slots.
  ///
  /// - Parameters:
  ///   - capacity: How many elements fit; a power of two.
  ///   - cursor: The first cursor; other than zero only to test what happens when cursors wrap.
  /// - Throws: What is wrong with the capacity or with the element's layout, or ``CoreError/outOfMemory``.
  /// - Complexity: The only allocation that this ring makes; the system gives the memory of a large ring only as
  ///   it is used.
  @inlinable
  public init(capacity: Int, startingAt cursor: UInt64 = 0) throws(CoreError) {
    guard capacity > 0 else { throw .capacityIsZero }
    raw = try C.Ring(
      capacity: capacity, size: MemoryLayout<Element>.stride, alignment: MemoryLayout<Element>.alignment,
      startingAt: cursor)
    keeper = RingKeeper(raw)
  }

  /// Throws what is wrong with the capacity or with the element's layout, without making a ring.
  public static func check(capacity: Int) throws(CoreError) {
    try SlotGeometry.check(
      capacity: capacity, size: MemoryLayout<Element>.stride, alignment: MemoryLayout<Element>.alignment)
  }

  /// Lets a ring that nobody has used yet, and that nobody else knows, go on for another: its first cursor is
  /// `tail`, and what the other holds, from `head` on, counts as inside until ``pass(to:)``.
  public func restart(head: UInt64, tail: UInt64) { raw.restart(head: head, tail: tail) }

  /// What came before that cursor was received from another ring, for which this one goes on. The consumer.
  public func pass(to cursor: UInt64) { raw.release(cursor) }

  /// How many elements fit. Any thread.
  @inlinable
  public var capacity: Int { raw.capacity }

  /// How many slots were taken a moment ago, claims that are not yet published included. Any thread.
  @inlinable
  public var wasCount: Int { raw.wasCount }

  /// Refuses every send from now on; what was accepted is still received. Any thread.
  @inlinable
  public func close() { raw.close() }

  /// Whether ``close()`` was called. Any thread.
  @inlinable
  public var isClosed: Bool { raw.isClosed }
}

// Unchecked: the raw ring is made for threads, and hands each element from exactly one to exactly one.
extension RingOn: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// The ring of the C core.
public typealias Ring<Element: ~Copyable> = RingOn<CCore, Element>
