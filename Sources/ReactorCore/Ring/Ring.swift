/// A bounded multi-producer single-consumer ring that moves Swift values of any kind, copyable or not, through its slots,
/// without a box, an allocation or a lock.
///
/// Any thread may send. One thread at a time may drain. To pass that role to another thread, the caller needs a
/// happens-before edge (a join, a lock, a ``Trampoline``). In debug builds, two drains that overlap stop the program.
///
/// Elements are received in the order of their claims. So the elements of one thread are received in the order in which it
/// sent them, and if a send returned before another one began, its element is received first.
///
/// Elements that are still inside when the ring is destroyed are destroyed with it.
///
/// The algorithm and its sources are documented in `rr_ring.h`.
public struct Ring<Element: ~Copyable>: ~Copyable {
  @usableFromInline let raw: CurrentCore.Ring
  #if DEBUG
    @usableFromInline let drainGuard = OverlapGuard("drain")
  #endif

  /// Creates a ring of `capacity` slots.
  ///
  /// - Parameters:
  ///   - capacity: How many elements fit; a power of two.
  ///   - cursor: The first cursor; other than zero only to test wrap-around.
  /// - Throws: ``CoreError``, if the capacity or the element's layout is invalid, or if an allocation fails.
  /// - Complexity: The ring allocates nothing later. The system provides the memory of a large ring only as it is used.
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

  /// Throws if the capacity or the element's layout is invalid, without creating a ring.
  public static func check(capacity: Int) throws(CoreError) {
    try SlotLimits.check(
      capacity: capacity, size: MemoryLayout<Element>.stride, alignment: MemoryLayout<Element>.alignment)
  }

  // MARK: Any thread

  /// Sends one element if there is room. Any thread; lock-free; never waits for the consumer.
  ///
  /// ``SendOutcome/full(_:)`` is truthful: every slot was taken at some moment during the call.
  @inlinable
  @inline(__always)
  public func trySend(_ element: consuming Element) -> SendOutcome<Element> { raw.trySend(element) }

  /// Sends `count` elements, all or none. `make(0)`, …, `make(count - 1)` create them in place, and must not send to this
  /// ring. They are received one after the other, with nothing in between. Any thread; lock-free.
  ///
  /// A batch costs a fraction of single sends, because it needs one claim for all elements and one publication for every
  /// 127.
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

  /// Makes every later send fail. Elements that were accepted before are still received. Any thread.
  @inlinable
  public func close() { raw.close() }

  /// Whether ``close()`` was called. Any thread.
  @inlinable
  public var isClosed: Bool { raw.isClosed }

  /// The cursor of the next send. Every send that returned before has a smaller one. Any thread.
  @inlinable
  public var tail: UInt64 { raw.tail }

  /// Whether an element that was sent by itself was ready at the head a moment ago. Any thread. Also false if another
  /// thread drained meanwhile, or stopped in the middle of a batch.
  @inlinable
  public var wasReady: Bool { raw.wasReady }

  /// The address of the ring in memory, for ``RingReference/follow(_:)``.
  @inlinable
  public var address: UnsafeRawPointer { raw.address }

  // MARK: The consumer

  /// Receives at most `limit` published elements, oldest first, and returns how many. Consumer.
  ///
  /// Stops at the limit, or at a slot that is not published yet, even if later ones are. So without a limit it continues
  /// for as long as the producers keep pace. Releases slots to the producers while draining, at the latest after every 64
  /// elements. `body` may send to this ring, but must not drain it.
  @inlinable
  @inline(__always)
  public func drain(upTo limit: Int = .max, _ body: (consuming Element) -> Void) -> Int {
    drain(upTo: limit) { element, _ in body(element) }
  }

  /// The same as ``drain(upTo:_:)-(_,(Element)->Void)``, with each element's cursor.
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

  /// Whether the ring is open and every claim was received. Consumer.
  ///
  /// This is one half of a pair: if a thread releases a ``Trampoline`` and then finds the ring idle, it has missed no send
  /// of a thread that claims and then finds the trampoline busy. The argument is documented in `rr_trampoline.h`.
  @inlinable
  public var isIdle: Bool { raw.isIdle }

  /// Whether every claim was received, whether the ring is open or closed. Consumer. The same half of the pair as
  /// ``isIdle``.
  @inlinable
  public var isEmpty: Bool { raw.isEmpty }

  /// Whether an element is ready to be received. Consumer.
  @inlinable
  public var isReady: Bool { raw.isReady }

  // MARK: Replacing a ring

  /// Lets a ring that no thread has used yet continue another one. Its first cursor is `tail`. The elements of the other
  /// ring, from `head` on, count as inside until ``advanceHead(to:)``.
  public func restart(head: UInt64, tail: UInt64) { raw.restart(head: head, tail: tail) }

  /// Notes that every element before `cursor` was received from the ring that this one continues. Consumer.
  public func advanceHead(to cursor: UInt64) { raw.release(cursor) }
}

// Unchecked: any thread may use the raw ring, which moves each element from one thread to exactly one other.
extension Ring: @unchecked Sendable where Element: Sendable & ~Copyable {}

/// The result of a send. An element that was not accepted is returned.
@frozen
public enum SendOutcome<Element: ~Copyable>: ~Copyable {
  /// The element was sent.
  case accepted
  /// Every slot was taken.
  case full(Element)
  /// The ring is closed.
  case closed(Element)

  /// Whether the element was sent.
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

/// The result of a send of several elements.
@frozen
public enum BatchOutcome: Equatable, Sendable {
  /// All elements were sent.
  case accepted
  /// Not enough slots were free.
  case full
  /// The ring is closed.
  case closed
  /// The count is zero, negative, or larger than the capacity: it would never be accepted.
  case invalidCount
}
