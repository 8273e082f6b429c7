import Synchronization

/// A first-in first-out queue for one thread at a time: an owner, or the holder of a lock. Each element has a stamp.
///
/// It holds what waits beside the ring of a mailbox. The stamp is a cursor of that ring: the element is processed right
/// before the element of the ring with that cursor. The queue begins without memory, doubles its memory when it is full,
/// and keeps it, so in a steady state it does not allocate. Only the memory for more than ``keptCapacity`` elements is
/// freed when the queue becomes empty.
///
/// An owner can limit the number of its own elements, which may wait in several queues: by reservations, which one of
/// these queues counts.
///
/// Unsafe: the user must make sure that one thread at a time accesses it.
@unsafe
public struct StampedQueue<Element>: ~Copyable {
  @usableFromInline typealias Entry = (stamp: UInt64, element: Element)

  @usableFromInline typealias Fields = StampedQueueFields

  @usableFromInline let fields: UnsafeMutablePointer<Fields>

  @inlinable
  @inline(__always)
  var entries: UnsafeMutablePointer<Entry>? {
    fields.pointee.entries?.assumingMemoryBound(to: Entry.self)
  }

  /// For how many elements an empty queue keeps its memory.
  @inlinable
  public static var keptCapacity: Int { 1024 }

  /// Creates an empty queue without memory.
  @inlinable
  @inline(__always)
  public init() { fields = StampedQueueFields.make() }

  deinit {
    // The check spares the usual case the metadata of the element, which a deinitializer that is not specialised looks up.
    if !isEmpty { while removeFirst() != nil {} }
    fields.pointee.entries?.deallocate()
    turnCounters.deinitialize()
    fields.deinitialize(count: 1)
    fields.deallocate()
  }

  /// Counters for the owner that uses this queue, which has them in the same allocation: so that counting takes no cache line
  /// from the threads that send. Valid as long as this queue.
  @inlinable
  @inline(__always)
  public var turnCounters: TurnCounters { TurnCounters(behind: fields + 1) }

  /// How many elements were inside a moment ago. Any thread.
  @inlinable
  public var wasCount: Int { Int(fields.pointee.count.load(ordering: .relaxed)) }

  /// Requests the queue's own fields and the counters, without waiting for them. Any thread.
  @inlinable
  public func prefetch() { Prefetch.pair(fields) }

  // MARK: The user

  /// Whether the queue is empty.
  @inlinable
  @inline(__always)
  public var isEmpty: Bool { count == 0 }

  /// The stamp of the oldest element.
  @inlinable
  public var firstStamp: UInt64? { oldest?.pointee.stamp }

  /// The oldest element.
  @inlinable
  public var first: Element? { oldest?.pointee.element }

  @inlinable
  var oldest: UnsafeMutablePointer<Entry>? {
    count == 0 ? nil : entries.unsafelyUnwrapped + Int(fields.pointee.first)
  }

  /// Adds an element. Amortized O(1).
  @inlinable
  public func append(_ element: Element, stamp: UInt64) {
    let count = count
    if count == fields.pointee.capacity { grow() }
    let end = (fields.pointee.first &+ count) & (fields.pointee.capacity &- 1)
    (entries.unsafelyUnwrapped + Int(end)).initialize(to: (stamp, element))
    setCount(count + 1)
  }

  /// Removes and returns the oldest element. Amortized O(1).
  @inlinable
  public func removeFirst() -> Element? {
    guard let entry = oldest?.move() else { return nil }
    fields.pointee.first = (fields.pointee.first &+ 1) & (fields.pointee.capacity &- 1)
    setCount(count &- 1)
    if count == 0, fields.pointee.capacity > Self.keptCapacity { freeEntries() }
    return entry.element
  }

  /// Moves the oldest element of this queue to the end of another one, with its stamp. Amortized O(1).
  public func moveFirst(to other: borrowing StampedQueue) {
    guard let stamp = firstStamp, let element = removeFirst() else { return }
    other.append(element, stamp: stamp)
  }

  /// Moves everything to another queue, which must be empty. O(1).
  public func moveAll(to other: borrowing StampedQueue) {
    precondition(other.isEmpty, "only an empty queue takes everything from another one")
    swap(&fields.pointee.entries, &other.fields.pointee.entries)
    swap(&fields.pointee.capacity, &other.fields.pointee.capacity)
    swap(&fields.pointee.first, &other.fields.pointee.first)
    other.setCount(count)
    setCount(0)
  }

  // MARK: Reservations, the owner

  /// Counts one more of the owner's own elements; returns false at the limit, which is at most
  /// ``TurnEnds/largestReserved``.
  @inlinable
  public func tryReserve(upTo limit: Int) -> Bool {
    if reserved >= limit { return false }
    fields.pointee.ends.word += 1
    return true
  }

  /// Counts one less.
  @inlinable
  public func cancelReservation() { fields.pointee.ends.word -= 1 }

  /// Whether any is counted.
  @inlinable
  public var hasReservations: Bool { reserved != 0 }

  @inlinable
  var reserved: UInt32 { turnEnds.reserved }

  /// What the owner does at the end of its turn. Valid as long as this queue.
  @inlinable
  @inline(__always)
  public var turnEnds: TurnEnds {
    TurnEnds(UnsafeMutableRawPointer(fields).assumingMemoryBound(to: TurnEnds.Fields.self))
  }

  // MARK: Implementation

  @inlinable
  @inline(__always)
  var count: UInt32 { fields.pointee.count.load(ordering: .relaxed) }

  // A load and a store instead of a read-modify-write, because one thread at a time changes it.
  @inlinable
  func setCount(_ count: UInt32) { fields.pointee.count.store(count, ordering: .relaxed) }

  @inlinable
  @inline(never)
  func grow() {
    let (old, oldCapacity, first) = (entries, fields.pointee.capacity, fields.pointee.first)
    let capacity = max(4, oldCapacity * 2)
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: Int(capacity))
    for index in 0..<count {
      let from = old.unsafelyUnwrapped + Int((first &+ index) & (oldCapacity &- 1))
      (entries + Int(index)).moveInitialize(from: from, count: 1)
    }
    old?.deallocate()
    fields.pointee.entries = UnsafeMutableRawPointer(entries)
    fields.pointee.capacity = capacity
    fields.pointee.first = 0
  }

  @usableFromInline
  func freeEntries() {
    fields.pointee.entries?.deallocate()
    fields.pointee.entries = nil
    fields.pointee.capacity = 0
    fields.pointee.first = 0
  }
}

/// The fields of a ``StampedQueue``. Not generic, so that code which is not specialised needs no metadata for them.
@usableFromInline
struct StampedQueueFields: ~Copyable {
  /// At the address of the structure: see ``StampedQueue/turnEnds``.
  @usableFromInline var ends = TurnEnds.Fields()
  // 32 bits each, and in this order, because every reactor has these fields: 32 bytes. The owner writes them at each action
  // that it sends to itself. Of a larger size, they share a cache line with objects that readers read.
  @usableFromInline var capacity: UInt32 = 0
  @usableFromInline var first: UInt32 = 0
  /// Relaxed: other threads read it only as a statistic.
  @usableFromInline let count = Atomic<UInt32>(0)
  @usableFromInline var entries: UnsafeMutableRawPointer?
  private init() {}

  /// Allocates the fields of an empty queue, and behind them the counters of its owner.
  @usableFromInline
  static func make() -> UnsafeMutablePointer<StampedQueueFields> {
    let counters = MemoryLayout<TurnCounters.Fields>.self
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<StampedQueueFields>.stride + counters.stride,
      alignment: max(MemoryLayout<StampedQueueFields>.alignment, counters.alignment))
    let fields = memory.initializeMemory(as: StampedQueueFields.self, to: StampedQueueFields())
    TurnCounters(behind: fields + 1).initialize()
    return fields
  }
}

// Unchecked: the user guards it by ownership or by a lock.
extension StampedQueue: @unchecked Sendable where Element: Sendable {}
