import ReactorCore
import Synchronization

/// A ring that begins without memory and grows up to its capacity. Most reactors never have more than a few actions
/// waiting.
///
/// It is a chain of stages, each a ring eight times as large as the one before. To grow, a sender closes the newest
/// stage, which fixes where its cursors end, and puts a new stage behind it whose cursors begin there. Closing sets a
/// bit of the claim cursor, so every claim of the old stage comes before every claim of the new one: the chain is one
/// order of cursors.
///
/// Growing is lock-free: any thread that finds a stage closed can do the rest itself. What earlier stages still hold
/// counts as inside the newest one, so the chain never holds more than its capacity. Emptied stages stay, since a sender
/// may still read one; together they are a seventh of the newest.
@usableFromInline
struct GrowingRing<Element: Sendable>: ~Copyable, Sendable {
  @usableFromInline
  final class Stage: Sendable {
    @usableFromInline let ring: Ring<Element>
    @usableFromInline let previous: Stage?
    /// Whether earlier stages may hold something. Relaxed: the consumer clears it for itself. Other threads only
    /// save a search if they see it cleared.
    @usableFromInline let hasPrevious: Atomic<Bool>

    @usableFromInline
    init(capacity: Int, after previous: Stage?) throws(CoreError) {
      ring = try Ring<Element>(capacity: capacity)
      self.previous = previous
      hasPrevious = Atomic(previous != nil)
    }

    /// Whether nothing is inside or claimed, nor ever will be. Any thread.
    @inlinable var isExhausted: Bool { ring.isClosed && ring.isEmpty }
  }

  /// What became of an element.
  @usableFromInline
  enum Offer: Sendable { case accepted, full, closed, outOfMemory }

  @usableFromInline let newest = AtomicReference<Stage>()
  /// The ring that senders try first: nearly always that of the newest stage.
  @usableFromInline let senderRing = RingReference()
  @usableFromInline let capacity: Int
  /// The life cycle of the reactor. It is stored here because closing takes effect in the ring.
  @usableFromInline let lifecycle = Lifecycle()

  /// - Parameter capacity: The size that the ring may grow to; a power of two.
  @usableFromInline
  init(capacity: Int) throws(CoreError) {
    try Ring<Element>.check(capacity: capacity)
    self.capacity = capacity
  }

  /// Frees all stages. The holder, last of all.
  func free() { newest.releaseObject() }

  // MARK: Sending, any thread

  /// Sends an element if there is room. Any thread; lock-free.
  ///
  /// ``Offer/full`` is truthful, as that of ``Ring/trySend(_:)``. But right after the chain has grown, a few slots that
  /// the consumer emptied meanwhile count as taken until its next drain.
  @inlinable
  @inline(__always)
  func offer(_ element: Element) -> Offer {
    senderRing.trySend(element) ? .accepted : offerOrGrow(element)
  }

  @inlinable
  @inline(never)
  func offerOrGrow(_ element: Element) -> Offer {
    while true {
      guard let stage = newest.use({ $0 }) ?? makeFirst() else { return .outOfMemory }
      switch stage.ring.trySend(element) {
      case .accepted:
        senderRing.follow { newest.use { $0.ring.address } }
        return .accepted
      case .full:
        if stage.ring.capacity == capacity { return .full }
        if !tryGrow(beyond: stage) { return .outOfMemory }
      case .closed:
        if isClosed { return .closed }
        if !tryGrow(beyond: stage) { return .outOfMemory }
      }
    }
  }

  /// Returns the first stage; makes it if there is none. Returns nil if there is no memory. Any thread.
  @inlinable
  func makeFirst() -> Stage? {
    guard let first = try? Stage(capacity: min(8, capacity), after: nil) else { return nil }
    let stage = newest.setIfNil(first)
    if isClosed { stage.ring.close() }
    return stage
  }

  /// Closes the stage and puts a larger one behind it, unless it has the full capacity or another thread was first. Any
  /// thread.
  ///
  /// - Returns: False if there is no memory.
  @inlinable
  func tryGrow(beyond stage: Stage) -> Bool {
    let larger = min(stage.ring.capacity * 8, capacity)
    guard stage.ring.capacity < capacity, let next = try? Stage(capacity: larger, after: stage) else {
      return stage.ring.capacity == capacity
    }
    stage.ring.close()
    // If the life cycle is closing, this stage remains the last one; see `seal()`.
    if isClosed { return true }
    next.ring.restart(head: stage.ring.head, tail: stage.ring.tail)
    if newest.replace(stage, with: next), isClosed { next.ring.close() }
    return true
  }

  // MARK: Queries, any thread

  /// The cursor that the next element gets: everything that was accepted has a smaller one.
  @inlinable var tail: UInt64 { newest.use { $0.ring.tail } ?? 0 }

  /// How many elements were inside a moment ago.
  @usableFromInline var wasCount: Int { newest.use { $0.ring.wasCount } ?? 0 }

  /// The head and the tail, if the ring is full: there was a moment after the call began at which every slot was taken.
  var boundsIfFull: (head: UInt64, tail: UInt64)? {
    newest.use { stage -> (head: UInt64, tail: UInt64)? in
      // Loads the tail before the head, so a stale value can never report "full" falsely.
      let tail = stage.ring.tail
      let head = stage.ring.head
      if stage.ring.capacity < capacity || Cursor.distance(from: head, to: tail) < capacity { return nil }
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
  ///     full after this check either reads a head that is not older than the check, or finds a stage full from which
  ///     this drain receives nothing. ``Spilled`` relies on that.
  ///   - condition: Called with the cursor of each element before it is received; stops the drain if it returns false.
  ///   - onRelease: Called whenever senders were given room, at the latest after every 64 elements.
  @inlinable
  @inline(__always)
  func drain(
    upTo limit: Int, after check: () -> Bool = { true }, while condition: (UInt64) -> Bool = { _ in true },
    onRelease: () -> Void = {}, _ body: (Element, UInt64) -> Void
  ) -> Int {
    guard let newest = newest.use({ $0 }) else {
      _ = check()
      return 0
    }
    if newest.hasPrevious.load(ordering: .relaxed) {
      return drainGrown(newest, upTo: limit, after: check, while: condition, onRelease: onRelease, body)
    }
    if !check() { return 0 }
    return newest.ring.drain(
      upTo: min(limit, newest.ring.capacity), while: condition, onRelease: onRelease, body)
  }

  @inlinable
  @inline(never)
  func drainGrown(
    _ newest: Stage, upTo limit: Int, after check: () -> Bool, while condition: (UInt64) -> Bool,
    onRelease: () -> Void, _ body: (Element, UInt64) -> Void
  ) -> Int {
    // A sender that made a stage in the middle of the last drain gave it the head of that moment, which is stale now.
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

  /// Returns the stage with the oldest elements, as ``advanceToOldest(from:)``. The consumer.
  @inlinable
  func advanceToOldest() -> Stage? {
    newest.use { newest in
      newest.hasPrevious.load(ordering: .relaxed) ? advanceToOldest(from: newest) : newest
    }
  }

  /// Returns the stage with the oldest elements, and advances its head to where the stage before it ended. The consumer.
  @usableFromInline
  func advanceToOldest(from newest: Stage) -> Stage {
    while true {
      var oldest = newest
      while let previous = oldest.previous, !previous.isExhausted { oldest = previous }
      if let end = oldest.previous?.ring.tail, Cursor.isBefore(oldest.ring.head, end) {
        oldest.ring.advanceHead(to: end)
        // A stage may have been closed before any sender used it.
        if oldest !== newest, oldest.isExhausted { continue }
      }
      if oldest === newest { newest.hasPrevious.store(false, ordering: .relaxed) }
      return oldest
    }
  }

  /// Advances the heads of all later stages to that of the oldest one. They count what it holds as inside, so their
  /// senders see the room that the consumer has made. The consumer.
  @usableFromInline
  func propagateHead(of oldest: Stage, to newest: Stage) {
    var stage = newest
    while stage !== oldest, let previous = stage.previous {
      stage.ring.advanceHead(to: oldest.ring.head)
      stage = previous
    }
  }

  /// Returns the cursor of the next element to receive. The consumer; advances as ``advanceToOldest(from:)``.
  @inlinable func pollHead() -> UInt64 { advanceToOldest()?.ring.head ?? 0 }

  /// Returns whether an element is ready to be received. The consumer; advances as ``advanceToOldest(from:)``.
  @inlinable func pollReady() -> Bool { advanceToOldest()?.ring.isReady ?? false }

  // MARK: Closing, any thread

  /// Whether the ring is being closed. A send may still be accepted until the life cycle is sealed.
  @usableFromInline var isClosed: Bool { lifecycle.isClosed }

  /// Closes every stage, once the life cycle is closing, and makes it sealed. Any thread.
  ///
  /// - Returns: Whether it was this call that sealed it.
  @usableFromInline
  func seal() -> Bool {
    // The life cycle became closing first: a sender that puts a stage in place, or closes one in order to grow, reads
    // it afterwards. Either that sender finds it closing and stops growing, or its stage is found here.
    if newest.isSet || !trySealEmpty() {
      while let stage = newest.use({ $0 }) {
        let isGrowing = stage.ring.isClosed && stage.ring.capacity < capacity
        stage.ring.close()
        if !isGrowing || trySeal(beyond: stage) { break }
      }
    }
    return lifecycle.closingToSealed()
  }

  /// Puts a closed first stage in place. Returns false if there is a first stage already.
  private func trySealEmpty() -> Bool {
    guard let first = try? Stage(capacity: min(8, capacity), after: nil) else { return false }
    first.ring.close()
    return newest.setIfNil(first) === first
  }

  /// Puts a closed stage behind the given one, before a sender that grows the ring puts an open one there. Returns false
  /// if that sender was first. (If there is no memory, that sender closes its own stage.)
  private func trySeal(beyond stage: Stage) -> Bool {
    guard let last = try? Stage(capacity: stage.ring.capacity, after: stage) else { return true }
    last.ring.restart(head: stage.ring.head, tail: stage.ring.tail)
    last.ring.close()
    return newest.replace(stage, with: last)
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
