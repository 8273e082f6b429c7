import Synchronization

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
  /// Whether the end of this value frees the memory.
  @usableFromInline let ownsMemory: Bool
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
    ownsMemory = true
  }

  private init(sharing raw: CurrentCore.Ring) {
    self.raw = raw
    ownsMemory = false
  }

  /// Returns a ring that is closed and empty, for a place where no other ring was needed. All such rings share their memory. It
  /// needs none after ``prepareClosedAndEmpty()``.
  public static func closedAndEmpty() -> Self { Self(sharing: ClosedRing.prepared) }

  /// Makes the memory of all ``closedAndEmpty()``, unless it is there. Any thread.
  ///
  /// - Throws: ``CoreError/outOfMemory``.
  @inlinable
  public static func prepareClosedAndEmpty() throws(CoreError) {
    if !ClosedRing.isPrepared { try ClosedRing.prepare() }
  }

  /// Returns this ring once more, without memory of its own: what is sent to one is received from either. One thread at a time may
  /// drain either of them.
  ///
  /// Unsafe: this ring must outlive the one that is returned.
  @unsafe
  public borrowing func shared() -> Self { Self(sharing: raw) }

  deinit {
    if !ownsMemory { return }
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
  public var isHeadPublished: Bool { raw.isHeadPublished }

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

  /// The same as ``drain(upTo:_:)``, with each element's cursor.
  ///
  /// - Parameters:
  ///   - limit: How many elements it receives at most.
  ///   - condition: Called with the cursor of each element before it is received; stops the drain if it returns false.
  ///   - onRelease: Called after slots were released to the producers, at the latest after every 64 elements.
  ///   - body: Called with each element and its cursor.
  /// - Returns: How many elements were received.
  @inlinable
  @inline(__always)
  public func drain(
    upTo limit: Int = .max, while condition: (UInt64) -> Bool = { _ in true }, onRelease: () -> Void = {},
    _ body: (consuming Element, UInt64) -> Void
  ) -> Int {
    #if DEBUG
      drainGuard.enter()
      defer { drainGuard.leave() }
    #endif
    return raw.drain(upTo: limit, while: condition, onRelease: onRelease, body)
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

/// The memory of every ``Ring/closedAndEmpty()``. It is never written: no claim succeeds, so no slot is published or released.
@usableFromInline
enum ClosedRing {
  // Not a constant: a process that has no memory for it once would never have one.
  private static let made = SystemMutex<CurrentCore.Ring?>(nil)
  /// Whether it is there. Relaxed: the lock is what a thread takes the ring from.
  @usableFromInline static let preparation = Atomic(false)

  @inlinable static var isPrepared: Bool { preparation.load(ordering: .relaxed) }

  @usableFromInline
  static func prepare() throws(CoreError) {
    let isMade = made.withLock { made in
      if made == nil { made = try? CurrentCore.Ring(capacity: 1, size: 1, alignment: 1, startingAt: 0) }
      made?.close()
      return made != nil
    }
    if !isMade { throw .outOfMemory }
    preparation.store(true, ordering: .relaxed)
  }

  static var prepared: CurrentCore.Ring {
    guard let ring = made.withLock({ $0 }) else { preconditionFailure("the closed ring was not prepared") }
    return ring
  }
}

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

/// The algorithms of ``Ring`` for any core: everything but the ownership of the memory.
///
/// Each function requires that the ring was created for elements of the same type.
extension RawRing {
  /// Sends one element if there is room. Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func trySend<Element: ~Copyable>(_ element: consuming Element) -> SendOutcome<Element> {
    switch tryClaim(1) {
    case .claimed(let cursor):
      slots.payload(cursor, as: Element.self).initialize(to: element)
      publish(cursor, count: 1)
      return .accepted
    case .closed:
      return .closed(element)
    case .full, .invalidCount:
      return .full(element)
    }
  }

  /// Sends `count` elements with one claim, all or none. Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func trySend<Element: ~Copyable>(count: Int, _ make: (Int) -> Element) -> BatchOutcome {
    switch tryClaim(count) {
    case .claimed(let cursor):
      let slots = slots
      for index in 0..<count {
        let slot = cursor &+ UInt64(truncatingIfNeeded: index)
        slots.payload(slot, as: Element.self).initialize(to: make(index))
      }
      publish(cursor, count: count)
      return .accepted
    case .full: return .full
    case .closed: return .closed
    case .invalidCount: return .invalidCount
    }
  }

  /// Receives at most `limit` published elements with their cursors, oldest first, and returns how many. Consumer.
  ///
  /// Releases slots while draining, at the latest after every 64 elements, so that producers that wait for room do not
  /// have to wait for the end of the drain.
  ///
  /// - Parameters:
  ///   - limit: How many elements it receives at most.
  ///   - _: The type of the elements.
  ///   - condition: Called with the cursor of each element before it is received; stops the drain if it returns false.
  ///   - onRelease: Called after slots were released.
  ///   - body: Called with each element and its cursor.
  @inlinable
  @inline(__always)
  public func drain<Element: ~Copyable>(
    upTo limit: Int, of _: Element.Type = Element.self, while condition: (UInt64) -> Bool = { _ in true },
    onRelease: () -> Void = {}, _ body: (consuming Element, UInt64) -> Void
  ) -> Int {
    let slots = slots
    var cursor = head
    let runBefore = runLeft
    var run = runBefore
    var released = cursor
    var received = 0
    let releaseEvery = UInt64(min(64, max(1, capacity / 4)))
    draining: while received < limit {
      if run == 0 {
        switch peek(cursor) {
        case .notReady:
          break draining
        case .skip(let count):
          cursor &+= UInt64(count)
          continue draining
        case .run(let count):
          run = count
        }
      }
      if !condition(cursor) { break }
      body(slots.payload(cursor, as: Element.self).move(), cursor)
      cursor &+= 1
      run -= 1
      received += 1
      if cursor &- released >= releaseEvery {
        release(cursor)
        released = cursor
        onRelease()
      }
    }
    // Not if it is the same: several threads may drain a ``Ring/closedAndEmpty()`` at the same time.
    if run != runBefore { runLeft = run }
    if cursor != released {
      release(cursor)
      onRelease()
    }
    return received
  }

  /// Whether every claim was received, whether the ring is open or closed. Consumer.
  @inlinable
  public var isEmpty: Bool { tail << 1 == head << 1 }

  /// Whether an element that was sent by itself was ready at the head a moment ago. Any thread.
  @inlinable
  public var isHeadPublished: Bool { peek(head) != .notReady }

  /// Whether an element is ready to be received. Consumer.
  @inlinable
  public var isReady: Bool { runLeft != 0 || peek(head) != .notReady }

  /// Destroys the elements that were published and not received. Called by the last thread that uses the ring.
  ///
  /// Skips a claim that was never published slot by slot, because the words of its slots say that they hold nothing.
  public func destroyElements<Element: ~Copyable>(of _: Element.Type) {
    var cursor = head
    func destroy(_ count: Int) {
      for _ in 0..<count {
        slots.payload(cursor, as: Element.self).deinitialize(count: 1)
        cursor &+= 1
      }
    }
    destroy(Int(runLeft))
    while cursor << 1 != tail << 1 {
      switch peek(cursor) {
      case .notReady: cursor &+= 1
      case .skip(let count): cursor &+= UInt64(count)
      case .run(let count): destroy(Int(count))
      }
    }
  }
}
