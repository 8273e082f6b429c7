import ReactorCore
import Synchronization

/// A ring that begins without memory and grows up to its capacity. Most reactors never have more than a few actions
/// waiting.
///
/// It is a chain of segments, each a ring up to eight times as large as the one before. To grow, a sender closes the newest
/// segment, which fixes where its cursors end, and puts a new segment behind it whose cursors begin there. Closing sets a
/// bit of the claim cursor, so every claim of the old segment comes before every claim of the new one: the chain is one
/// order of cursors.
///
/// Growing is lock-free: any thread that finds a segment closed can do the rest itself. What earlier segments still hold
/// counts as inside the newest one, so the chain never holds more than its capacity. Emptied segments stay, since a sender
/// may still read one; together they are a seventh of the newest, and up to 57 % if the capacity
/// is no power of eight.
@usableFromInline
struct GrowingRing<Element: Sendable>: ~Copyable, Sendable {
  @usableFromInline
  final class Segment: Sendable {
    @usableFromInline let ring: Ring<Element>
    @usableFromInline let previous: Segment?
    /// Whether earlier segments may hold something. Relaxed: the consumer clears it for itself. Other threads only
    /// save a search if they see it cleared.
    @usableFromInline let hasPrevious: Atomic<Bool>

    @usableFromInline
    init(capacity: Int, after previous: Segment?) throws(CoreError) {
      ring = try Ring<Element>(capacity: capacity)
      self.previous = previous
      hasPrevious = Atomic(previous != nil)
    }

    /// A segment that is closed, and has no slots of its own. Needs no memory of the core.
    init(closed: Void) {
      ring = .closedAndEmpty()
      previous = nil
      hasPrevious = Atomic(false)
    }

    /// A segment that shares the ring of another one, which is closed. Needs no memory of the core.
    init(sharing segment: Segment) {
      ring = segment.ring.shared()
      // It outlives this one, and is found before it. Its slots are counted once, since heads and tails are the same.
      previous = segment
      hasPrevious = Atomic(true)
    }

    /// Whether nothing is inside or claimed, nor ever will be. Any thread.
    @inlinable var isExhausted: Bool { ring.isClosed && ring.isEmpty }
  }

  /// What became of an element.
  @usableFromInline
  enum OfferOutcome: Sendable { case accepted, full, closed, outOfMemory }

  @usableFromInline let newest = AtomicReference<Segment>()
  /// The ring that senders try first: nearly always that of the newest segment.
  @usableFromInline let senderRing = RingReference()
  /// At most 2 to the 31st.
  @usableFromInline let storedCapacity: UInt32
  /// The life cycle of the reactor. It is stored here because closing takes effect in the ring.
  @usableFromInline let lifecycle = Lifecycle()

  /// - Parameter capacity: The size that the ring may grow to; a power of two.
  @usableFromInline
  init(capacity: Int) throws(CoreError) {
    try Ring<Element>.check(capacity: capacity)
    // Closing must not need memory: without a closed ring, a sender that finds the reactor idle would be accepted.
    try Ring<Element>.prepareClosedAndEmpty()
    storedCapacity = UInt32(capacity)
  }

  @inlinable var capacity: Int { Int(storedCapacity) }

  /// Frees all segments. The holder, last of all.
  @inline(__always)
  func free() { newest.releaseObject() }

  // MARK: Sending, any thread

  /// Sends an element if there is room. Any thread; lock-free.
  ///
  /// ``OfferOutcome/full`` is truthful, as that of ``Ring/trySend(_:)``. But right after the chain has grown, a few slots that
  /// the consumer emptied meanwhile count as taken until its next drain.
  @inlinable
  @inline(__always)
  func offer(_ element: Element) -> OfferOutcome {
    senderRing.trySend(element) ? .accepted : offerOrGrow(element)
  }

  @inlinable
  @inline(never)
  func offerOrGrow(_ element: Element) -> OfferOutcome {
    while true {
      guard let segment = newest.use({ $0 }) ?? makeFirst() else { return .outOfMemory }
      switch segment.ring.trySend(element) {
      case .accepted:
        senderRing.follow { newest.use { $0.ring.address } }
        return .accepted
      case .full:
        if segment.ring.capacity == capacity { return .full }
        if !tryGrow(beyond: segment) { return .outOfMemory }
      case .closed:
        if isClosed { return .closed }
        if !tryGrow(beyond: segment) { return .outOfMemory }
      }
    }
  }

  /// Returns the first segment; makes it if there is none. Returns nil if there is no memory. Any thread.
  @inlinable
  func makeFirst() -> Segment? {
    guard let first = try? Segment(capacity: min(8, capacity), after: nil) else { return nil }
    let segment = newest.setIfNil(first)
    if isClosed { segment.ring.close() }
    return segment
  }

  /// Closes the segment and puts a larger one behind it, unless it has the full capacity or another thread was first. Any
  /// thread.
  ///
  /// - Returns: False if there is no memory.
  @inlinable
  func tryGrow(beyond segment: Segment) -> Bool {
    let larger = min(segment.ring.capacity * 8, capacity)
    guard segment.ring.capacity < capacity, let next = try? Segment(capacity: larger, after: segment) else {
      return segment.ring.capacity == capacity
    }
    segment.ring.close()
    // If the life cycle is closing, this segment remains the last one; see `seal()`.
    if isClosed { return true }
    next.ring.restart(head: segment.ring.head, tail: segment.ring.tail)
    if newest.replace(segment, with: next), isClosed { next.ring.close() }
    return true
  }

  // MARK: Queries, any thread

  /// The cursor that the next element gets: everything that was accepted has a smaller one.
  @inlinable var tail: UInt64 { newest.use { $0.ring.tail } ?? 0 }

  /// How many elements were inside a moment ago.
  @usableFromInline var wasCount: Int { newest.use { $0.ring.wasCount } ?? 0 }

  /// The head and the tail, if the ring is full: there was a moment after the call began at which every slot was taken.
  var boundsIfFull: (head: UInt64, tail: UInt64)? {
    newest.use { segment -> (head: UInt64, tail: UInt64)? in
      // Loads the tail before the head, so a stale value can never report "full" falsely.
      let tail = segment.ring.tail
      let head = segment.ring.head
      if segment.ring.capacity < capacity || Cursor.distance(from: head, to: tail) < capacity { return nil }
      return (head, tail)
    } ?? nil
  }

  /// Whether nothing is inside or claimed, whether it is open or closed. One half of a pair, as ``Ring/isEmpty``.
  @inlinable
  @inline(__always)
  var isEmpty: Bool { newest.use { $0.ring.isEmpty } ?? true }

  /// Whether it is empty and open.
  @inlinable
  @inline(__always)
  var isIdle: Bool { newest.use { $0.ring.isIdle } ?? true }

  // MARK: Receiving, the consumer

  /// Receives what is there, oldest first: at most `limit` elements, and at most the capacity.
  ///
  /// - Parameters:
  ///   - check: Called before the first element; if it returns false, nothing is received. A sender that finds the ring
  ///     full after this check either reads a head that is not older than the check, or finds a segment full from which
  ///     this drain receives nothing. ``Spilled`` relies on that.
  ///   - condition: Called with the cursor of each element before it is received; stops the drain if it returns false.
  ///   - onRelease: Called whenever senders were given room, at the latest after every 64 elements.
  @inlinable
  @inline(__always)
  func drain(
    upTo limit: Int, after check: () -> Bool = { true }, while condition: (UInt64) -> Bool = { _ in true },
    onRelease: () -> Void = {}, _ body: (Element, UInt64) -> Void
  ) -> Int {
    let received = newest.use { newest in
      if newest.hasPrevious.load(ordering: .relaxed) {
        return drainGrown(newest, upTo: limit, after: check, while: condition, onRelease: onRelease, body)
      }
      if !check() { return 0 }
      return newest.ring.drain(
        upTo: min(limit, newest.ring.capacity), while: condition, onRelease: onRelease, body)
    }
    if let received { return received }
    _ = check()
    return 0
  }

  @inlinable
  @inline(never)
  func drainGrown(
    _ newest: Segment, upTo limit: Int, after check: () -> Bool, while condition: (UInt64) -> Bool,
    onRelease: () -> Void, _ body: (Element, UInt64) -> Void
  ) -> Int {
    // A sender that made a segment in the middle of the last drain gave it the head of that moment, which is stale now.
    propagateHead(of: advanceToOldest(from: newest), to: newest)
    if !check() { return 0 }
    var received = 0
    while received < min(limit, newest.ring.capacity) {
      let oldest = advanceToOldest(from: newest)
      let limit = min(limit, newest.ring.capacity) - received
      let count = oldest.ring.drain(
        upTo: limit, while: condition,
        onRelease: {
          propagateHead(of: oldest, to: newest)
          onRelease()
        }, body)
      if count == 0 { break }
      received += count
    }
    return received
  }

  /// Returns the segment with the oldest elements, as ``advanceToOldest(from:)``. The consumer.
  @inlinable
  func advanceToOldest() -> Segment? {
    newest.use { newest in
      newest.hasPrevious.load(ordering: .relaxed) ? advanceToOldest(from: newest) : newest
    }
  }

  /// Returns the segment with the oldest elements, and advances its head to where the segment before it ended. The consumer.
  @usableFromInline
  func advanceToOldest(from newest: Segment) -> Segment {
    while true {
      var oldest = newest
      while let previous = oldest.previous, !previous.isExhausted { oldest = previous }
      if let end = oldest.previous?.ring.tail, Cursor.isBefore(oldest.ring.head, end) {
        oldest.ring.advanceHead(to: end)
        // A segment may have been closed before any sender used it.
        if oldest !== newest, oldest.isExhausted { continue }
      }
      if oldest === newest { newest.hasPrevious.store(false, ordering: .relaxed) }
      return oldest
    }
  }

  /// Advances the heads of all later segments to that of the oldest one. They count what it holds as inside, so their
  /// senders see the room that the consumer has made. The consumer.
  @usableFromInline
  func propagateHead(of oldest: Segment, to newest: Segment) {
    var segment = newest
    while segment !== oldest, let previous = segment.previous {
      segment.ring.advanceHead(to: oldest.ring.head)
      segment = previous
    }
  }

  /// Returns the cursor of the next element to receive. The consumer; advances as ``advanceToOldest(from:)``.
  @inlinable func pollHead() -> UInt64 { advanceToOldest()?.ring.head ?? 0 }

  /// Returns whether an element is ready to be received. The consumer; advances as ``advanceToOldest(from:)``.
  @inlinable func pollReady() -> Bool { advanceToOldest()?.ring.isReady ?? false }

  // MARK: Closing, any thread

  /// Whether the ring is being closed. A send may still be accepted until the life cycle is sealed.
  @usableFromInline var isClosed: Bool { lifecycle.isClosed }

  /// Closes every segment, once the life cycle is closing, and makes it sealed. Any thread.
  ///
  /// - Returns: Whether it was this call that sealed it.
  @usableFromInline
  func seal() -> Bool {
    // The life cycle became closing first: a sender that puts a segment in place, or closes one in order to grow, reads
    // it afterwards. Either that sender finds it closing and stops growing, or its segment is found here.
    if newest.isSet || !trySealEmpty() {
      while let segment = newest.use({ $0 }) {
        let isGrowing = segment.ring.isClosed && segment.ring.capacity < capacity
        segment.ring.close()
        if !isGrowing || trySeal(beyond: segment) { break }
      }
    }
    return lifecycle.closingToSealed()
  }

  /// Puts a closed first segment in place. Returns false if there is a first segment already.
  private func trySealEmpty() -> Bool {
    let first = Segment(closed: ())
    return newest.setIfNil(first) === first
  }

  /// Puts a closed segment in the place of the given one, which is closed, before a sender that grows the ring puts an open one
  /// behind it. Returns false if that sender was first.
  private func trySeal(beyond segment: Segment) -> Bool {
    newest.replace(segment, with: Segment(sharing: segment))
  }
}

/// Compares cursors. They wrap, so they are compared by their distance; bit 63 is not part of a cursor.
@usableFromInline
enum Cursor {
  @inlinable
  static func distance(from first: UInt64, to second: UInt64) -> Int64 {
    Int64(bitPattern: (second &- first) << 1) >> 1
  }

  @inlinable
  static func isBefore(_ first: UInt64, _ second: UInt64) -> Bool { distance(from: second, to: first) < 0 }
}
