import Synchronization

/// A variable of whoever owns what it stands beside, such as an ``OwnedState``: no lock, no check. Unsafe:
/// that only the owner touches it is its user's to see to.
@unsafe
public struct OwnerIsolated<Value: Sendable>: ~Copyable {
  @usableFromInline let storage: UnsafeMutablePointer<Value>

  /// A variable with its first value, allocated apart from whatever contains it.
  @inlinable
  public init(_ value: Value) {
    storage = .allocate(capacity: 1)
    storage.initialize(to: value)
  }

  @inlinable
  deinit {
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// The owner only.
  @inlinable
  public var value: Value {
    get { storage.pointee }
    nonmutating set { storage.pointee = newValue }
    nonmutating _modify { yield &storage.pointee }
  }
}

// Unchecked: its user guards it by ownership, as it guards the state.
extension OwnerIsolated: @unchecked Sendable {}

/// Counters that one thread at a time, the owner, adds to, and any thread reads: two plain accesses of memory
/// of their own, so that reading stops nobody and counting takes no line from who sends.
@unsafe
public struct OwnerCounters: ~Copyable {
  @usableFromInline let memory: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let count: Int

  /// So many counters, all zero.
  public init(_ count: Int) {
    self.count = count
    memory = .allocate(capacity: count)
    for index in 0..<count { (memory + index).initialize(to: Atomic(0)) }
  }

  deinit { memory.deallocate() }

  /// Adds to a counter. The owner.
  // Relaxed: a statistic. Not a read-modify-write: there is one owner at a time.
  @inlinable
  @inline(__always)
  public func add(_ amount: Int, to index: Int) {
    let counter = memory + index
    counter.pointee.store(counter.pointee.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  /// Raises a counter to `value`, if that is larger. The owner.
  @inlinable
  public func raise(_ index: Int, to value: Int) {
    if value > memory[index].load(ordering: .relaxed) { memory[index].store(value, ordering: .relaxed) }
  }

  /// What it was a moment ago. Any thread.
  @inlinable
  public func was(_ index: Int) -> Int { memory[index].load(ordering: .relaxed) }
}

// Unchecked: the memory holds atomics.
extension OwnerCounters: @unchecked Sendable {}
