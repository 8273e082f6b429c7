/// A bounded multi-producer single-consumer ring that moves Swift values of any kind, copyable or not, through its
/// slots: no box, no allocation, no lock.
///
/// Any thread may send. One thread at a time may drain; handing that role to another thread needs a happens-before
/// edge of the caller's own (a join, a lock, a ``Trampoline``). In debug builds, two drains that overlap stop the
/// program.
///
/// Elements are received in the order of their claims: elements of one thread in the order in which it sent them, and
/// an element whose send returned before another send began before that other one.
///
/// The elements that are still inside when the ring goes away are destroyed with it.
///
/// The algorithm and its sources are documented in `rr_ring.h`.
public struct Ring<Element: ~Copyable>: ~Copyable {
  @usableFromInline let raw: CurrentCore.Ring
  #if DEBUG
    @usableFromInline let drainGuard = OverlapGuard("drain")
  #endif

  /// Makes a ring of `capacity` slots.
  ///
  /// - Parameters:
  ///   - capacity: How many elements fit; a power of two.
  ///   - cursor: The first cursor; other than zero only to test what happens when cursors wrap.
  /// - Throws: What is wrong with the capacity or with the element's layout, or `CoreError.outOfMemory`.
  /// - Complexity: The only allocation that this ring makes; the system gives the memory of a large ring only as
  ///   it is used.
  @inlinable
  public init(capacity: Int, startingAt cursor: UInt64 = 0) throws(CoreError) {
    guard capacity > 0 else { throw .capacityIsZero }
    raw = try CurrentCore.Ring(
      capacity: capacity, size: MemoryLayout<Element>.stride, alignment: MemoryLayout<Element>.alignment,
      startingAt: cursor)
  }

  deinit {
    raw.destroyElements(of: Element.self)
    raw.destroy()
  }

  /// Throws what is wrong with the capacity or with the element's layout, without making a ring.
  public static func check(capacity: Int) throws(CoreError) {
    try SlotLimits.check(
      capacity: capacity, size: MemoryLayout<Element>.stride, alignment: MemoryLayout<Element>.alignment)
  }

  // MARK: Any thread

  /// Sends one element if there is room. Any thread; lock-free; never waits for the consumer.
  ///
  /// ``SendOutcome/full(_:)`` is truthful: there was a moment during the call at which every slot was taken.
  @inlinable
  @inline(__always)
  public func trySend(_ element: consuming Element) -> SendOutcome<Element> { raw.trySend(element) }

  /// Sends `count` elements, all or none, made in place by `make(0)`, …, `make(count - 1)`, which must not
  /// send to this ring. They are received one after the other, with nothing in between.
  ///
  /// A batch costs a fraction of single sends: it takes one claim for all of them, and one publication for every 127.
  /// Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func trySend(count: Int, _ make: (Int) -> Element) -> BatchOutcome {
    raw.trySend(count: count, make)
  }

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

  /// The cursor that the next send gets: every send that returned has a smaller one. Any thread.
  @inlinable
  public var tail: UInt64 { raw.tail }

  /// Whether an element that was sent by itself is ready at the head. Any thread; false may be stale if another thread
  /// drained meanwhile, or stopped in the middle of a batch.
  @inlinable
  public var wasReady: Bool { raw.wasReady }

  /// Where the ring is in memory: for ``RingReference/follow(_:)``.
  @inlinable
  public var address: UnsafeRawPointer { raw.address }

  // MARK: The consumer

  /// Receives what is published, oldest first, at most `limit` elements, and returns how many. Consumer.
  ///
  /// Stops at the limit, or at a slot that is not published yet, even if later ones are; so without a limit
  /// it goes on for as long as the producers keep pace. Slots are released to the producers while draining,
  /// at the latest every 64 elements. `body` may send to this ring; it must not drain it.
  @inlinable
  @inline(__always)
  public func drain(upTo limit: Int = .max, _ body: (consuming Element) -> Void) -> Int {
    drain(upTo: limit) { element, _ in body(element) }
  }

  /// As ``drain(upTo:_:)-(_,(Element)->Void)``, with each element's cursor.
  @inlinable
  @inline(__always)
  public func drain(upTo limit: Int = .max, _ body: (consuming Element, UInt64) -> Void) -> Int {
    #if DEBUG
      drainGuard.enter()
      defer { drainGuard.leave() }
    #endif
    return raw.drain(upTo: limit, body)
  }

  /// The cursor of the next element to receive. Consumer.
  @inlinable
  public var head: UInt64 { raw.head }

  /// Whether the ring is open and nothing is inside or on its way in. Consumer.
  ///
  /// One half of a pair: a thread that releases a ``Trampoline`` and then finds the ring idle misses no send of
  /// a thread that claims and then finds the trampoline busy. The argument is documented in `rr_trampoline.h`.
  @inlinable
  public var isIdle: Bool { raw.isIdle }

  /// Whether nothing is inside or on its way in, open or closed. Consumer; the same half as ``isIdle``.
  @inlinable
  public var isEmpty: Bool { raw.isEmpty }

  /// Whether an element is ready to be received. Consumer.
  @inlinable
  public var isReady: Bool { raw.isReady }

  // MARK: Continuing another ring

  /// Lets a ring that no thread has used yet continue another one: its first cursor is `tail`, and the elements of the
  /// other ring, from `head` on, count as inside until ``advanceHead(to:)``.
  public func restart(head: UInt64, tail: UInt64) { raw.restart(head: head, tail: tail) }

  /// Notes that everything before the cursor was received from the ring that this one continues. Consumer.
  public func advanceHead(to cursor: UInt64) { raw.release(cursor) }
}

// Unchecked: the raw ring is made for threads, and hands each element from exactly one to exactly one.
extension Ring: @unchecked Sendable where Element: Sendable & ~Copyable {}

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

#if DEBUG
  import Synchronization

  /// Stops the program when something that only one thread at a time may do is done twice at once. Debug builds only:
  /// it costs a read-modify-write on each side.
  @usableFromInline
  final class OverlapGuard: Sendable {
    private let isInside = Atomic(false)
    private let what: String

    @usableFromInline
    init(_ what: String) { self.what = what }

    @usableFromInline
    func enter() {
      // Relaxed: the guard must not add an edge that a release build does not have.
      if isInside.exchange(true, ordering: .relaxed) {
        fatalError(
          """
          Problem: two calls of \(what) overlap.
          Likely cause: two threads consume the same ring, or a \(what) is called from inside another.
          Remedy: let one thread at a time consume; guard the role with a Trampoline.
          """)
      }
    }

    @usableFromInline
    func leave() { isInside.store(false, ordering: .relaxed) }
  }
#endif
