import ReactorCore
import Synchronization

/// A ring that begins without memory, and grows up to its capacity when it is full: most reactors never have
/// more than a few actions waiting.
///
/// It is a chain of stages, each a ring eight times as large as the one before. To grow, a sender closes the
/// newest stage, which fixes where its cursors end, and puts one behind it whose cursors begin there. Closing is
/// a bit of the claim cursor, so every claim of the old stage comes before every claim of the new one, and the
/// chain is one order. Nobody waits: whoever finds a stage closed can do the rest of the growing itself. What
/// earlier stages still hold counts as inside the newest one, so that the chain never holds more than its
/// capacity. Stages that were emptied stay, since a sender may be looking at one; all of them together are a
/// seventh of the newest.
@usableFromInline
struct GrowingRing<Element: Sendable>: ~Copyable, Sendable {
  @usableFromInline
  final class Stage: Sendable {
    @usableFromInline let ring: Ring<Element>
    @usableFromInline let previous: Stage?
    /// Whether earlier stages may hold something. Relaxed: cleared by the consumer, for itself; to others it is
    /// a hint where not to look.
    @usableFromInline let hasPrevious: Atomic<Bool>

    @usableFromInline
    init(capacity: Int, after previous: Stage?) throws(CoreError) {
      ring = try Ring<Element>(capacity: capacity)
      self.previous = previous
      hasPrevious = Atomic(previous != nil)
    }

    /// Whether nothing is inside or on its way in, nor ever will be. Any thread.
    @inlinable var isExhausted: Bool { ring.isClosed && ring.isEmpty }
  }

  /// What became of an element.
  @usableFromInline
  enum Offer: Sendable { case accepted, full, closed, outOfMemory }

  @usableFromInline let newest = AtomicOnce<Stage>()
  /// Where senders try first: nearly always the newest.
  @usableFromInline let entrance = RingReference()
  @usableFromInline let capacity: Int
  /// The ring is where closing takes effect, so it holds the life cycle of its reactor.
  @usableFromInline let lifecycle = Lifecycle()

  /// - Parameter capacity: How many elements fit in the end; a power of two.
  @usableFromInline
  init(capacity: Int) throws(CoreError) {
    try Ring<Element>.check(capacity: capacity)
    self.capacity = capacity
  }

  /// Frees all stages. The holder, last of all.
  func letGo() { newest.releaseObject() }

  // MARK: Any thread

  /// Takes an element if there is room. ``Offer/full`` is truthful, as that of a ring is; but right after the
  /// chain has grown, a few slots that the consumer emptied meanwhile count as taken until its next drain.
  @inlinable
  @inline(__always)
  func offer(_ element: Element) -> Offer {
    entrance.trySend(element) ? .accepted : offerSlowly(element)
  }

  @inlinable
  @inline(never)
  func offerSlowly(_ element: Element) -> Offer {
    while true {
      guard let stage = newest.use({ $0 }) ?? makeFirst() else { return .outOfMemory }
      switch stage.ring.trySend(element) {
      case .accepted:
        entrance.follow { newest.use { $0.ring.address } }
        return .accepted
      case .full:
        if stage.ring.capacity == capacity { return .full }
        if !grow(beyond: stage) { return .outOfMemory }
      case .closed:
        if isClosed { return .closed }
        if !grow(beyond: stage) { return .outOfMemory }
      }
    }
  }

  /// Closes every stage, once the life cycle is closing, and makes it sealed. Any thread.
  @usableFromInline
  func seal() {
    // The life cycle became closing first: a sender that puts a stage in place, or closes one in order to grow, reads
    // it afterwards. Either that sender finds it closing and stops growing, or its stage is found here.
    if newest.isSet || !sealEmpty() {
      while let stage = newest.use({ $0 }) {
        let isGrowing = stage.ring.isClosed && stage.ring.capacity < capacity
        stage.ring.close()
        if !isGrowing || seal(beyond: stage) { break }
      }
    }
    _ = lifecycle.closingToSealed()
  }

  /// Puts the first stage in place, closed. False if there is one already.
  private func sealEmpty() -> Bool {
    guard let first = try? Stage(capacity: min(8, capacity), after: nil) else { return false }
    first.ring.close()
    return newest.setIfNil(first) === first
  }

  /// Takes the place of a stage that is about to be put behind that one, and would be open. False if that came
  /// first. (Without memory it is left to who puts it there to close it.)
  private func seal(beyond stage: Stage) -> Bool {
    guard let last = try? Stage(capacity: stage.ring.capacity, after: stage) else { return true }
    last.ring.restart(head: stage.ring.head, tail: stage.ring.tail)
    last.ring.close()
    return newest.replace(stage, with: last)
  }

  /// Whether it is being closed. Something may still be accepted until the life cycle is sealed.
  @usableFromInline var isClosed: Bool { lifecycle.isClosed }

  /// The cursor that the next element gets: everything that was accepted has a smaller one.
  @inlinable var tail: UInt64 { newest.use { $0.ring.tail } ?? 0 }

  /// How many elements were inside a moment ago.
  @usableFromInline var wasCount: Int { newest.use { $0.ring.wasCount } ?? 0 }

  /// The cursors of the oldest element and of the next one, if the ring is full: then there was a moment, after
  /// the call began, at which every slot was taken.
  var wasFull: (head: UInt64, tail: UInt64)? {
    newest.use { stage -> (head: UInt64, tail: UInt64)? in
      // In this order: of a tail that is stale, the head is no less full.
      let tail = stage.ring.tail
      let head = stage.ring.head
      if stage.ring.capacity < capacity || Cursor.distance(from: head, to: tail) < capacity { return nil }
      return (head, tail)
    } ?? nil
  }

  /// Whether nothing is inside or on its way in, open or closed. One half of a pair, as that of a ring.
  @inlinable
  @inline(__always)
  var isEmpty: Bool { newest.use { $0.ring.isEmpty } ?? true }

  /// Whether that is so, and it is open.
  @inlinable
  @inline(__always)
  var isIdle: Bool { newest.use { $0.ring.isIdle } ?? true }

  // MARK: The consumer

  /// The stage with the oldest elements. The consumer.
  @inlinable
  var oldest: Stage? {
    newest.use { newest in newest.hasPrevious.load(ordering: .relaxed) ? oldest(before: newest) : newest }
  }

  @usableFromInline
  func oldest(before newest: Stage) -> Stage {
    while true {
      var oldest = newest
      while let previous = oldest.previous, !previous.isExhausted { oldest = previous }
      if let end = oldest.previous?.ring.tail, Cursor.isBefore(oldest.ring.head, end) {
        oldest.ring.pass(to: end)
        // Maybe it was not used at all.
        if oldest !== newest, oldest.isExhausted { continue }
      }
      if oldest === newest { newest.hasPrevious.store(false, ordering: .relaxed) }
      return oldest
    }
  }

  /// Receives what is there, oldest first, at most `limit` elements and at most what fits.
  ///
  /// - Parameter look: Called before the first one; if it answers false, nothing is received. Who finds the ring
  ///   full afterwards, finds it so with a head that is no older than this moment's, or in a stage of which nothing
  ///   is received in this drain.
  @inlinable
  @inline(__always)
  func drain(upTo limit: Int, after look: () -> Bool = { true }, _ body: (Element, UInt64) -> Void) -> Int {
    guard let newest = newest.use({ $0 }) else {
      _ = look()
      return 0
    }
    if newest.hasPrevious.load(ordering: .relaxed) {
      return drainGrown(newest, upTo: limit, after: look, body)
    }
    if !look() { return 0 }
    return newest.ring.drain(upTo: min(limit, newest.ring.capacity), body)
  }

  @inlinable
  @inline(never)
  func drainGrown(
    _ newest: Stage, upTo limit: Int, after look: () -> Bool, _ body: (Element, UInt64) -> Void
  ) -> Int {
    // Who made a stage in the middle of the last drain gave it the head of that moment.
    mirror(oldest(before: newest), to: newest)
    if !look() { return 0 }
    var received = 0
    while received < min(limit, newest.ring.capacity) {
      let oldest = oldest(before: newest)
      let count = oldest.ring.drain(upTo: min(limit, newest.ring.capacity) - received, body)
      if count == 0 { break }
      received += count
      mirror(oldest, to: newest)
    }
    return received
  }

  /// Lets those that go on for a stage know how far that is emptied.
  @usableFromInline
  func mirror(_ oldest: Stage, to newest: Stage) {
    var stage = newest
    while stage !== oldest, let previous = stage.previous {
      stage.ring.pass(to: oldest.ring.head)
      stage = previous
    }
  }

  /// The cursor of the next element to receive.
  @inlinable var head: UInt64 { oldest?.ring.head ?? 0 }

  /// Whether an element is ready to be received.
  @inlinable var isReady: Bool { oldest?.ring.isReady ?? false }

  // MARK: Growing

  /// Nil if there is no memory.
  @inlinable
  func makeFirst() -> Stage? {
    guard let first = try? Stage(capacity: min(8, capacity), after: nil) else { return nil }
    let stage = newest.setIfNil(first)
    if isClosed { stage.ring.close() }
    return stage
  }

  /// False if there is no memory.
  @inlinable
  func grow(beyond stage: Stage) -> Bool {
    let larger = min(stage.ring.capacity * 8, capacity)
    guard stage.ring.capacity < capacity, let next = try? Stage(capacity: larger, after: stage) else {
      return stage.ring.capacity == capacity
    }
    stage.ring.close()
    // Then it is the last one; see `seal()`.
    if isClosed { return true }
    next.ring.restart(head: stage.ring.head, tail: stage.ring.tail)
    if newest.replace(stage, with: next), isClosed { next.ring.close() }
    return true
  }
}

/// Cursors wrap, so they are compared by their distance; bit 63 is not part of it.
@usableFromInline
enum Cursor {
  @inlinable
  static func distance(from first: UInt64, to second: UInt64) -> Int64 {
    Int64(bitPattern: (second &- first) << 1) >> 1
  }

  @inlinable
  static func isBefore(_ first: UInt64, _ second: UInt64) -> Bool { distance(from: second, to: first) < 0 }
}
