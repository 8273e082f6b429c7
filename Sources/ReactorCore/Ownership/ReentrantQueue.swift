/// A bounded first-in first-out queue for one thread at a time, each element with a stamp.
///
/// It takes what its owner sends to itself, which must neither wait nor overtake what others sent before: the
/// stamp is the mailbox cursor that the element comes right before. It begins without memory, doubles what it
/// has when it is full, and keeps it, so in a steady state it does not allocate. Unsafe: that only the owner
/// touches it is its user's to see to.
@unsafe
public struct ReentrantQueue<Element>: ~Copyable {
  @usableFromInline typealias Entry = (stamp: UInt64, element: Element)

  @usableFromInline
  struct Fields {
    @usableFromInline var entries: UnsafeMutablePointer<Entry>?
    // Short, since there is one of these for each reactor.
    @usableFromInline var capacity: UInt32 = 0
    @usableFromInline var first: UInt32 = 0
    @usableFromInline var count: UInt32 = 0
    @usableFromInline init() {}
  }

  @usableFromInline let fields: UnsafeMutablePointer<Fields>
  /// How many elements it takes at most.
  public let limit: Int

  /// - Parameter limit: How many elements it takes at most.
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

  /// Whether it holds nothing. The owner.
  @inlinable
  public var isEmpty: Bool { fields.pointee.count == 0 }

  /// The stamp of the oldest element.
  @inlinable
  public var firstStamp: UInt64? {
    let queue = fields.pointee
    return queue.count == 0 ? nil : queue.entries.unsafelyUnwrapped[Int(queue.first)].stamp
  }

  /// Takes an element, unless the queue has reached its limit. Amortised O(1).
  @inlinable
  public func tryAppend(_ element: Element, stamp: UInt64) -> Bool {
    if fields.pointee.count >= limit { return false }
    append(element, stamp: stamp)
    return true
  }

  /// Takes an element, also beyond the limit: what is bounded elsewhere. Amortised O(1).
  @inlinable
  public func append(_ element: Element, stamp: UInt64) {
    if fields.pointee.count == fields.pointee.capacity { grow() }
    let queue = fields.pointee
    let end = (queue.first + queue.count) & (queue.capacity - 1)
    (queue.entries.unsafelyUnwrapped + Int(end)).initialize(to: (stamp, element))
    fields.pointee.count += 1
  }

  /// Takes the oldest element out. O(1).
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

// Unchecked: its user guards it by ownership, as it guards the state.
extension ReentrantQueue: @unchecked Sendable where Element: Sendable {}
