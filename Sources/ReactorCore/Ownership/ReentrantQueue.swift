/// A bounded first-in first-out queue for one thread at a time, the owner. Each element has a stamp.
///
/// It holds what the owner sends to itself, which must neither wait nor overtake what other threads sent before. The stamp
/// is a cursor of the mailbox: the element is processed right before the mailbox element with that cursor. The queue
/// begins without memory, doubles its memory when it is full, and keeps it, so in a steady state it does not allocate.
///
/// Unsafe: the user must make sure that only the owner accesses it.
@unsafe
public struct ReentrantQueue<Element>: ~Copyable {
  @usableFromInline typealias Entry = (stamp: UInt64, element: Element)

  @usableFromInline
  struct Fields {
    @usableFromInline var entries: UnsafeMutablePointer<Entry>?
    // 32 bits each, because every reactor has these fields.
    @usableFromInline var capacity: UInt32 = 0
    @usableFromInline var first: UInt32 = 0
    @usableFromInline var count: UInt32 = 0
    @usableFromInline init() {}
  }

  @usableFromInline let fields: UnsafeMutablePointer<Fields>
  /// How many elements ``tryAppend(_:stamp:)`` lets the queue hold.
  public let limit: Int

  /// Creates an empty queue without memory.
  ///
  /// - Parameter limit: How many elements ``tryAppend(_:stamp:)`` lets the queue hold.
  public init(limit: Int) {
    precondition(limit > 0, "the limit of an owner's queue is \(limit); it must be positive")
    let limit = min(limit, 1 << 30)
    self.limit = limit
    fields = .allocate(capacity: 1)
    fields.initialize(to: Fields())
  }

  deinit {
    while removeFirst() != nil {}
    fields.pointee.entries?.deallocate()
    fields.deallocate()
  }

  /// Whether the queue is empty. The owner.
  @inlinable
  public var isEmpty: Bool { fields.pointee.count == 0 }

  /// The stamp of the oldest element. The owner.
  @inlinable
  public var firstStamp: UInt64? {
    let queue = fields.pointee
    return queue.count == 0 ? nil : queue.entries.unsafelyUnwrapped[Int(queue.first)].stamp
  }

  /// Adds an element unless the queue has reached its limit, and returns whether it did. The owner; amortized O(1).
  @inlinable
  public func tryAppend(_ element: Element, stamp: UInt64) -> Bool {
    if fields.pointee.count >= limit { return false }
    append(element, stamp: stamp)
    return true
  }

  /// Adds an element even beyond the limit. For elements whose number is bounded elsewhere. The owner; amortized O(1).
  @inlinable
  public func append(_ element: Element, stamp: UInt64) {
    if fields.pointee.count == fields.pointee.capacity { grow() }
    let queue = fields.pointee
    let end = (queue.first + queue.count) & (queue.capacity - 1)
    (queue.entries.unsafelyUnwrapped + Int(end)).initialize(to: (stamp, element))
    fields.pointee.count += 1
  }

  /// Removes and returns the oldest element. The owner; O(1).
  @inlinable
  public func removeFirst() -> Element? {
    let queue = fields.pointee
    if queue.count == 0 { return nil }
    let entry = (queue.entries.unsafelyUnwrapped + Int(queue.first)).move()
    fields.pointee.first = (queue.first + 1) & (queue.capacity - 1)
    fields.pointee.count -= 1
    return entry.element
  }

  @inlinable
  @inline(never)
  func grow() {
    let old = fields.pointee
    let capacity = max(4, old.capacity * 2)
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: Int(capacity))
    for index in 0..<old.count {
      let from = old.entries.unsafelyUnwrapped + Int((old.first + index) & (old.capacity - 1))
      (entries + Int(index)).moveInitialize(from: from, count: 1)
    }
    old.entries?.deallocate()
    fields.pointee.entries = entries
    fields.pointee.capacity = capacity
    fields.pointee.first = 0
  }
}

// Unchecked: the user guards it by ownership, like the state.
extension ReentrantQueue: @unchecked Sendable where Element: Sendable {}
