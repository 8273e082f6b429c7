import CReactorCore
import Synchronization

/// Marks that the calling thread is inside of a turn of any reactor, or of a round of a loop: also between its turns and jobs, where it
/// may destroy what sends in its `deinit`. Such a thread must not wait for room.
///
/// It is one word in the thread's own memory, which also says where the innermost turn keeps what is done at its end.
/// Entering costs one load and one store, leaving one store.
public enum TurnMark {
  /// What the calling thread was inside of before.
  public struct Outer: Sendable {
    @usableFromInline let word: UInt

    @inlinable
    @inline(__always)
    init(_ word: UInt) { self.word = word }

    /// That of ``TurnMark/enterFromOutside(_:)``.
    @inlinable
    @inline(__always)
    public static var outside: Outer { Outer(0) }
  }

  /// Marks the beginning of a turn of the calling thread.
  ///
  /// - Parameter ends: What this turn keeps for its end.
  /// - Returns: What ``leave(_:)`` needs.
  @inlinable
  @inline(__always)
  public static func enter(_ ends: TurnEnds) -> Outer {
    let outer = Outer(rr_thread_get_turn_mark())
    rr_thread_set_turn_mark(UInt(bitPattern: ends.fields))
    return outer
  }

  /// Whether the calling thread is inside of nothing that marks it: no turn, no round, and no read of a state with one place; and neither
  /// discards nor reduces. It may be inside of a `deinit`.
  @inlinable
  @inline(__always)
  public static var isOutside: Bool { rr_thread_get_turn_mark() == 0 }

  /// As ``enter(_:)-(TurnEnds)``, of a thread that ``isOutside``.
  @inlinable
  @inline(__always)
  public static func enterFromOutside(_ ends: TurnEnds) -> Outer {
    assert(isOutside, "the thread is inside of something")
    rr_thread_set_turn_mark(UInt(bitPattern: ends.fields))
    return .outside
  }

  /// Marks the beginning of a round, or of something else that is no turn. A turn around it stays the innermost one.
  ///
  /// - Returns: What ``leave(_:)`` needs.
  @inlinable
  @inline(__always)
  public static func enter() -> Outer {
    let outer = Outer(rr_thread_get_turn_mark())
    rr_thread_set_turn_mark(outer.word & ~discarding | job)
    return outer
  }

  /// Marks its end.
  ///
  /// - Parameter outer: The result of `enter`.
  @inlinable
  @inline(__always)
  public static func leave(_ outer: Outer) { rr_thread_set_turn_mark(outer.word) }

  /// Whether the calling thread is inside of a turn, or of a round of a loop.
  @inlinable
  public static var isSet: Bool { rr_thread_get_turn_mark() & ~(discarding | reducing) != 0 }

  /// What the innermost turn of the calling thread keeps for its end; nil outside of turns.
  @inlinable
  static var innermost: TurnEnds? {
    let word = rr_thread_get_turn_mark() & ~(job | discarding | reducing)
    return UnsafeMutablePointer(bitPattern: word).map { TurnEnds($0) }
  }

  // The low bits of the word, which are free in an address.
  @inlinable static var job: UInt { 1 }
  @inlinable static var discarding: UInt { 2 }
  @inlinable static var reducing: UInt { 4 }

  // MARK: Discarding

  /// Notes that the innermost turn of the calling thread discards: what is destroyed until its end is destroyed because its
  /// reactor is closed.
  public static func noteDiscarding() { rr_thread_set_turn_mark(rr_thread_get_turn_mark() | discarding) }

  /// Calls `body`, and notes whether what it destroys is destroyed because its reactor is closed or gone. This is no turn, so
  /// it changes neither ``isSet`` nor which turn is the innermost.
  public static func whileDiscarding(_ isDiscarding: Bool = true, _ body: () -> Void) {
    let outer = rr_thread_get_turn_mark()
    rr_thread_set_turn_mark(isDiscarding ? outer | discarding : outer & ~discarding)
    body()
    rr_thread_set_turn_mark(outer)
  }

  /// Whether the calling thread destroys something because its reactor is closed or gone. A turn of another reactor inside
  /// of that does not count.
  public static var isDiscarding: Bool { rr_thread_get_turn_mark() & discarding != 0 }

  // MARK: Reducing

  /// Marks that the innermost turn of the calling thread begins to compute a state that observers get afterwards. It may have done so; then
  /// the first of both ends ends that.
  @inlinable
  @inline(__always)
  public static func beginReduce() { rr_thread_set_turn_mark(rr_thread_get_turn_mark() | reducing) }

  /// Marks the end of that.
  @inlinable
  @inline(__always)
  public static func endReduce() { rr_thread_set_turn_mark(rr_thread_get_turn_mark() & ~reducing) }

  /// Calls `body`, which computes such a state outside of `reduce`. This is no turn.
  public static func whileReducing(_ body: () -> Void) {
    let outer = rr_thread_get_turn_mark()
    rr_thread_set_turn_mark(outer | reducing)
    body()
    rr_thread_set_turn_mark(outer)
  }

  /// Whether the calling thread computes a state that observers get afterwards. A turn of another reactor inside of that does not
  /// count, nor does what runs at the end of a turn.
  @inlinable
  @inline(__always)
  public static var isReducing: Bool { rr_thread_get_turn_mark() & reducing != 0 }
}

/// What an owner keeps for the end of its turn, and for later turns of its own: a list of ``TurnEnd``, and how many
/// elements the owner has reserved room for (``StampedQueue``). One word says whether there is anything of either, so an
/// owner that releases checks both with one branch.
///
/// Unsafe: the user must make sure that one thread at a time accesses it, the owner, and that the memory is still there.
@unsafe
public struct TurnEnds {
  @usableFromInline
  struct Fields {
    /// The newest element of the list, which links to the earlier ones.
    @usableFromInline var newest: Unmanaged<TurnEnd>?
    /// The number of reservations, and the bits ``requested`` and ``observed``.
    @usableFromInline var word: UInt32 = 0
    @usableFromInline init() {}
  }

  @usableFromInline let fields: UnsafeMutablePointer<Fields>

  @inlinable
  @inline(__always)
  init(_ fields: UnsafeMutablePointer<Fields>) { self.fields = fields }

  /// The bit of the word that says that the list is not empty.
  @inlinable static var requested: UInt32 { 1 << 31 }
  /// The bit that says that the end of each turn is observed.
  @inlinable static var observed: UInt32 { 1 << 30 }

  /// The number of reservations.
  @inlinable
  var reserved: UInt32 { fields.pointee.word & ~(Self.requested | Self.observed) }

  /// The largest number of reservations.
  @inlinable public static var largestReserved: Int { (1 << 30) - 1 }

  /// Whether nothing is to be done at the end of the turn, and nothing is reserved.
  @inlinable
  @inline(__always)
  public var isQuiet: Bool { fields.pointee.word == 0 }

  /// Whether the list is not empty.
  @inlinable
  @inline(__always)
  public var isRequested: Bool { fields.pointee.word & Self.requested != 0 }

  /// Whether the end of each turn is observed. From then on ``isQuiet`` is false.
  @inlinable
  @inline(__always)
  public var isObserved: Bool { fields.pointee.word & Self.observed != 0 }

  /// Makes ``isObserved`` true for good. The owner.
  public func markObserved() { fields.pointee.word |= Self.observed }

  /// Adds an element. Inside of the turn.
  package func append(_ end: TurnEnd) {
    end.earlier = fields.pointee.newest
    fields.pointee.newest = .passRetained(end)
    fields.pointee.word |= Self.requested
  }

  /// Takes the list out. The owner, after the turn.
  public func take() -> TakenTurnEnds {
    defer { fields.pointee.newest = nil }
    fields.pointee.word &= ~Self.requested
    return TakenTurnEnds(newest: fields.pointee.newest)
  }

  /// Takes those elements out that wait for a journal. The owner, after the turn.
  public func takeThoseThatWait() -> TakenTurnEnds { take { $0.waitsForJournal } }

  /// Takes the list out, but for the elements that no journal holds back. The owner, after the turn.
  package func takeUnsettled() -> TakenTurnEnds {
    // Mostly there are none.
    guard let newest = fields.pointee.newest, TakenTurnEnds.hasSettled(newest) else { return take() }
    return take { !$0.isSettled }
  }

  private func take(where isTaken: (TurnEnd) -> Bool) -> TakenTurnEnds {
    var taken = Fields()
    return withUnsafeMutablePointer(to: &taken) { taken in
      guard let newest = fields.pointee.newest else { return TakenTurnEnds(newest: nil) }
      _ = take()
      TakenTurnEnds.forEachInOrder(newest) { (isTaken($0) ? TurnEnds(taken) : self).append($0) }
      return TurnEnds(taken).take()
    }
  }
}

/// The counters of a reactor's turns. The owner adds to them, and any thread reads them.
///
/// Counting is a load and a store, not a read-modify-write, because there is one owner at a time.
///
/// Unsafe: the user must make sure that only the owner counts, and that the memory is still there.
@unsafe
public struct TurnCounters {
  @usableFromInline
  struct Fields: ~Copyable {
    @usableFromInline let immediate = Atomic(0)
    @usableFromInline let turns = Atomic(0)
    @usableFromInline let processed = Atomic(0)
    @usableFromInline let largest = Atomic(0)
    @usableFromInline init() {}
  }

  @usableFromInline let fields: UnsafeMutablePointer<Fields>

  /// The counters in that memory.
  @inlinable
  @inline(__always)
  init(behind memory: UnsafeMutableRawPointer) { fields = memory.assumingMemoryBound(to: Fields.self) }

  /// Sets them to zero, before their first use.
  func initialize() { fields.initialize(to: Fields()) }

  /// After their last use.
  func deinitialize() { fields.deinitialize(count: 1) }

  // All operations are relaxed: these are statistics.

  /// Counts a turn of one action on the thread that sent it. The owner.
  @inlinable
  @inline(__always)
  public func countImmediate() { Self.add(1, to: fields.pointee.immediate) }

  /// Counts a turn that took actions and other steps from the mailbox, and how many. The owner.
  @inlinable
  public func count(turnOf processed: Int) {
    Self.add(1, to: fields.pointee.turns)
    Self.add(processed, to: fields.pointee.processed)
    if processed > wasLargest { fields.pointee.largest.store(processed, ordering: .relaxed) }
  }

  @inlinable
  @inline(__always)
  static func add(_ amount: Int, to counter: borrowing Atomic<Int>) {
    counter.store(counter.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  /// The number of turns of one action on the thread that sent it. Any thread; like all counters here, the number was true
  /// a moment ago.
  @inlinable
  public var wasImmediate: Int { fields.pointee.immediate.load(ordering: .relaxed) }

  /// The number of turns that took something from the mailbox. Any thread.
  @inlinable
  public var wasTurns: Int { fields.pointee.turns.load(ordering: .relaxed) }

  /// How many actions and other steps those turns processed. Any thread.
  @inlinable
  public var wasProcessed: Int { fields.pointee.processed.load(ordering: .relaxed) }

  /// The largest number that one of those turns processed. Any thread.
  @inlinable
  public var wasLargest: Int { fields.pointee.largest.load(ordering: .relaxed) }
}

// Unchecked: the memory holds atomics.
extension TurnCounters: @unchecked Sendable {}

/// The stack of the calling thread. Turns nest on it.
public enum ThreadStack {
  /// Whether the calling thread has used more than half of its stack. Any thread, not only a dedicated one.
  @inlinable
  @inline(__always)
  public static var isLow: Bool { rr_thread_stack_is_low() }

  /// Whether ``isLow`` may be true: false only if it is known that it is false. It calls no function.
  @inlinable
  @inline(__always)
  public static var mayBeLow: Bool { rr_thread_stack_may_be_low() }
}
