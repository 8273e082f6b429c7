import Glibc
import RawCore
import Synchronization

/// The ring of the pure-Swift core: `rr_ring.h` written with `Synchronization` atomics. The guarantees, the threads that
/// may call each operation, and a picture of a slot's word are documented in that file.
///
/// It has three cache lines (constants, producers, consumer); the words and the payloads of the slots are a separate
/// allocation, also if there are few.
@frozen
public struct SwiftRing: RawRing, @unchecked Sendable {
  // Unchecked: the pointee consists of constants, atomics, and `runLeft`, which only the consumer uses.
  @usableFromInline let constants: UnsafeMutablePointer<Constants>

  @frozen
  @usableFromInline
  struct Constants {
    /// The words of all slots. Behind them are the payloads, in the same allocation.
    @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>
    @usableFromInline let payloads: UnsafeMutableRawPointer
    @usableFromInline let mask: UInt64
    @usableFromInline let capacity: UInt64
    /// The number of bytes from payload to payload.
    @usableFromInline let stride: Int
  }

  @frozen
  @usableFromInline
  struct Producers: ~Copyable {
    /// The claim cursor, doubled, and in bit 0 whether the ring is closed.
    @usableFromInline let tail: Atomic<UInt64>
    /// A recent head: spares producers the consumer's line.
    @usableFromInline let headSeen: Atomic<UInt64>
  }

  @frozen
  @usableFromInline
  struct Consumer: ~Copyable {
    /// Every slot before it is released.
    @usableFromInline let head: Atomic<UInt64>
    /// The number of slots at the head that belong to a run that was peeked already. Only the run's first slot has the
    /// word.
    @usableFromInline var runLeft: UInt32
  }

  public init(capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError) {
    try SlotLimits.check(capacity: capacity, size: size, alignment: alignment)
    let stride = CacheLine.roundUp(size, to: alignment)
    let wordBytes = Self.wordBytes(capacity: capacity)
    let memory = try CacheLine.allocate(byteCount: 3 * CacheLine.size)
    let slots: UnsafeMutableRawPointer
    do {
      slots = try CacheLine.allocate(byteCount: wordBytes + capacity * stride)
    } catch {
      free(memory)
      throw error
    }
    let mask = UInt64(capacity - 1)
    let first = start & (UInt64.max >> 1)
    let words = slots.bindMemory(to: Atomic<UInt64>.self, capacity: capacity)
    constants = CacheLine.place(
      Constants(
        words: words, payloads: slots.advanced(by: wordBytes), mask: mask, capacity: UInt64(capacity),
        stride: stride),
      inLine: 0, of: memory)
    CacheLine.place(Producers(tail: Atomic(first &* 2), headSeen: Atomic(first)), inLine: 1, of: memory)
    CacheLine.place(Consumer(head: Atomic(first), runLeft: 0), inLine: 2, of: memory)
    // Run 0 at the right cursor, which is never published: "nothing yet", whatever `start` is.
    for index in 0..<UInt64(capacity) {
      let cursor = first &+ index
      words.advanced(by: Int(cursor & mask)).initialize(to: Atomic(cursor &<< 8))
    }
  }

  /// The number of bytes from the first word to the first payload; see `size_of_words` in `rr_ring.c`.
  private static func wordBytes(capacity: Int) -> Int {
    let bytes = CacheLine.roundUp(capacity * MemoryLayout<UInt64>.size, to: CacheLine.size)
    return bytes % 4096 == 0 ? bytes + 2048 + CacheLine.size : bytes
  }

  @inlinable
  public var address: UnsafeRawPointer { UnsafeRawPointer(constants) }

  @inlinable
  public init(at address: UnsafeRawPointer) {
    constants = UnsafeMutableRawPointer(mutating: address).assumingMemoryBound(to: Constants.self)
  }

  public func restart(head: UInt64, tail: UInt64) {
    let first = head & (UInt64.max >> 1)
    // Relaxed: no other thread uses the ring yet.
    producers.pointee.tail.store(tail &* 2, ordering: .relaxed)
    producers.pointee.headSeen.store(first, ordering: .relaxed)
    consumer.pointee.head.store(first, ordering: .relaxed)
  }

  public func destroy() {
    free(constants.pointee.words)
    free(constants)
  }

  @inlinable
  public var capacity: Int { Int(truncatingIfNeeded: constants.pointee.capacity) }

  @inlinable
  public var slots: RawSlots {
    RawSlots(
      base: constants.pointee.payloads, mask: constants.pointee.mask, stride: constants.pointee.stride)
  }
}

// MARK: Layout

extension SwiftRing {
  @inlinable
  var producers: UnsafeMutablePointer<Producers> { constants.afterLines(1, as: Producers.self) }

  @inlinable
  var consumer: UnsafeMutablePointer<Consumer> { constants.afterLines(2, as: Consumer.self) }

  /// The word of the slot at `cursor`. A pointer, because returning an atomic would move it.
  @inlinable
  func word(_ cursor: UInt64) -> UnsafeMutablePointer<Atomic<UInt64>> {
    constants.pointee.words.advanced(by: Int(truncatingIfNeeded: cursor & constants.pointee.mask))
  }

  /// The longest run that one word can name.
  @inlinable
  static var longestRun: UInt64 { 127 }

  /// The flag of a word whose run was abandoned.
  @inlinable
  static var skipFlag: UInt64 { 128 }
}

// MARK: Any thread

extension SwiftRing {
  @inlinable
  @inline(__always)
  public func tryClaim(_ count: Int) -> RawClaim {
    let capacity = constants.pointee.capacity
    // Relaxed: the compare-and-swap repeats the load. With a stale tail it only fails.
    let tail = producers.pointee.tail.load(ordering: .relaxed)
    let after = tail &+ UInt64(truncatingIfNeeded: count) &* 2
    // RING_SPACE: the slots before that head are emptied, from the release of the thread that stored it.
    let seen = producers.pointee.headSeen.load(ordering: .acquiring)
    // The case of nearly every claim is here, to be inlined at each send: the count is valid, there is room even with
    // a head that was loaded earlier, and the ring is open. (A count of zero wraps around to the largest number, and a
    // negative one is large.)
    guard UInt64(truncatingIfNeeded: count) &- 1 < capacity, Self.hasRoom(capacity, from: seen, to: after),
      tail & 1 == 0
    else { return tryClaimSlow(count, hasLost: false) }
    // RING_CLAIM: in one order with the owner's release and its last load of the tail. Relaxed on failure: the exchange
    // only returns the value that it found, and nothing is read through that.
    let (isClaimed, _) = producers.pointee.tail.compareExchange(
      expected: tail, desired: after, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
    return isClaimed ? .claimed(tail &>> 1) : tryClaimSlow(count, hasLost: true)
  }

  /// The rest of ``tryClaim(_:)``: no room according to ``Producers/headSeen``, closed, contended, or an invalid count.
  ///
  /// - Parameter hasLost: Whether the caller's compare-and-swap has just failed.
  @usableFromInline
  @inline(never)
  func tryClaimSlow(_ count: Int, hasLost: Bool) -> RawClaim {
    let count = UInt64(truncatingIfNeeded: count)
    let capacity = constants.pointee.capacity
    if count &- 1 >= capacity { return .invalidCount }
    var pauses = 8
    if hasLost { Self.backOff(&pauses) }
    while true {
      // RING_CLAIM: the heads below are loaded after this tail. An older head with a newer tail could report "full"
      // although the ring never was.
      let tail = producers.pointee.tail.load(ordering: .acquiring)
      if tail & 1 != 0 { return .closed }
      let after = tail &+ count &* 2
      // RING_SPACE: as in ``tryClaim(_:)``.
      let seen = producers.pointee.headSeen.load(ordering: .acquiring)
      if !Self.hasRoom(capacity, from: seen, to: after) {
        // RING_SPACE: the slots before that head are emptied, from the consumer's release.
        let head = consumer.pointee.head.load(ordering: .acquiring)
        if !Self.hasRoom(capacity, from: head, to: after) { return .full }
        // RING_SPACE: a producer that loads this head must see the slots as emptied, hence release. An older value may
        // overwrite a newer one, which costs no more than another load of the consumer's cursor.
        producers.pointee.headSeen.store(head, ordering: .releasing)
      }
      // RING_CLAIM: as in ``tryClaim(_:)``.
      let (isClaimed, _) = producers.pointee.tail.compareExchange(
        expected: tail, desired: after, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if isClaimed { return .claimed(tail &>> 1) }
      Self.backOff(&pauses)
    }
  }

  /// Whether there are at most `capacity` slots from the cursor `head` to the doubled cursor `after`. The difference is
  /// signed because the head may already be beyond a stale tail.
  @inlinable
  @inline(__always)
  static func hasRoom(_ capacity: UInt64, from head: UInt64, to after: UInt64) -> Bool {
    Int64(bitPattern: after &- head &* 2) <= Int64(bitPattern: capacity &* 2)
  }

  /// Pauses about 200 ns at first, then twice as long each time, up to about 1.5 µs. So one producer runs alone for a
  /// while, instead of two that take the line from each other.
  private static func backOff(_ pauses: inout Int) {
    SwiftCore.pause(times: pauses)
    if pauses < 64 { pauses *= 2 }
  }

  @inlinable
  public func publish(_ cursor: UInt64, count: Int) {
    publish(cursor, count: count, flag: 0)
  }

  @inlinable
  public func abandon(_ cursor: UInt64, count: Int) {
    publish(cursor, count: count, flag: Self.skipFlag)
  }

  /// Stores one word for each 127 slots, oldest first.
  @inlinable
  @inline(__always)
  func publish(_ cursor: UInt64, count: Int, flag: UInt64) {
    var cursor = cursor
    var left = UInt64(truncatingIfNeeded: count)
    while left > Self.longestRun {
      publishWord(cursor, run: Self.longestRun | flag)
      cursor &+= Self.longestRun
      left &-= Self.longestRun
    }
    publishWord(cursor, run: left | flag)
  }

  @inlinable
  @inline(__always)
  func publishWord(_ cursor: UInt64, run: UInt64) {
    // RING_ITEM: keeps the retains of the payloads before the store; see `rr_store_release`.
    atomicMemoryFence(ordering: .releasing)
    // RING_ITEM: the payloads of the run, to the consumer's peek.
    word(cursor).pointee.store((cursor &<< 8) | run, ordering: .releasing)
  }

  @inlinable
  public func close() {
    // RING_CLOSE: what the closer wrote before, to a thread that finds the ring closed. Sequentially consistent for a
    // mailbox that grows: a thread closes and then loads a flag, another one sets the flag and then loads this word.
    // Since the flag is in the tail's word, every claim is before it or fails.
    producers.pointee.tail.bitwiseOr(1, ordering: .sequentiallyConsistent)
  }

  @inlinable
  public var isClosed: Bool {
    // RING_CLOSE: what the closer wrote before; in one order with the close.
    producers.pointee.tail.load(ordering: .sequentiallyConsistent) & 1 != 0
  }

  @inlinable
  public var tail: UInt64 {
    // RING_CLAIM: every claim that has returned is below it.
    producers.pointee.tail.load(ordering: .sequentiallyConsistent) &>> 1
  }

  @inlinable
  public var wasCount: Int {
    // RING_SPACE: a head that is loaded before the tail is not beyond it.
    let head = consumer.pointee.head.load(ordering: .acquiring)
    let tail = producers.pointee.tail.load(ordering: .relaxed) &>> 1
    // Cursors have 63 bits, so this is their distance modulo 2^63, as a signed number.
    let count = Int(truncatingIfNeeded: Int64(bitPattern: (tail &- head) &<< 1) &>> 1)
    return min(max(count, 0), capacity)
  }
}

// MARK: The consumer, one thread at a time

extension SwiftRing {
  @inlinable
  public func peek(_ cursor: UInt64) -> RawSlot {
    // RING_ITEM: the payloads of the run, from the claimant's publication.
    let found = word(cursor).pointee.load(ordering: .acquiring) ^ (cursor &<< 8)
    // A word of another lap differs in the bits of the cursor, so the result is 256 or more.
    if found == 0 || found >= 256 { return .notReady }
    if found < Self.skipFlag { return .run(UInt32(truncatingIfNeeded: found)) }
    return .skip(UInt32(truncatingIfNeeded: found &- Self.skipFlag))
  }

  @inlinable
  public var head: UInt64 { consumer.pointee.head.load(ordering: .relaxed) }

  @inlinable
  public func release(_ cursor: UInt64) {
    // RING_SPACE: the slots before `cursor` are emptied, to the claimants.
    consumer.pointee.head.store(cursor, ordering: .releasing)
  }

  @inlinable
  public var runLeft: UInt32 {
    get { consumer.pointee.runLeft }
    nonmutating set { consumer.pointee.runLeft = newValue }
  }

  @inlinable
  public var isIdle: Bool {
    // RING_CLAIM: the owner released the ownership before this load. If a producer that claimed missed the release, this
    // load does not miss the claim. A closed ring is not idle.
    producers.pointee.tail.load(ordering: .sequentiallyConsistent)
      == consumer.pointee.head.load(ordering: .relaxed) &<< 1
  }
}
