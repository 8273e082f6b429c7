import Synchronization

/// The counters of a reactor's turns. The owner adds to them, and any thread reads them.
///
/// They are a separate allocation, so that counting takes no cache line from the threads that send. Counting is a load and
/// a store, not a read-modify-write, because there is one owner at a time.
///
/// Unsafe: the user must make sure that only the owner counts.
@unsafe
public struct TurnCounters: ~Copyable {
  @usableFromInline
  struct Fields: ~Copyable {
    @usableFromInline let immediate = Atomic(0)
    @usableFromInline let turns = Atomic(0)
    @usableFromInline let processed = Atomic(0)
    @usableFromInline let largest = Atomic(0)
    @usableFromInline init() {}
  }

  @usableFromInline let fields: UnsafeMutablePointer<Fields>

  /// Creates counters that are zero.
  public init() {
    fields = .allocate(capacity: 1)
    fields.initialize(to: Fields())
  }

  deinit {
    fields.deinitialize(count: 1)
    fields.deallocate()
  }

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
