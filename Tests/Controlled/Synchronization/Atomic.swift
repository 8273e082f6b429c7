import ControlledScheduler

// Takes the place of the standard library's module `Synchronization` in a controlled build: with
// `-module-alias Synchronization=ControlledSynchronization` each `import Synchronization` means this module. It must
// not import that module itself, since the alias holds for what it imports as well.

/// A type whose values fit in an atomic.
public protocol AtomicRepresentable {
  /// The value in the lowest bytes, as many as the type has; the others are zero.
  var bits: UInt64 { get }
  init(bits: UInt64)
}

/// The standard library's atomic, each of whose operations is a point of the controlled scheduler.
///
/// The value is a separate allocation, so that it has an address.
public struct Atomic<Value: AtomicRepresentable>: ~Copyable {
  private let cell: UnsafeMutablePointer<UInt64>

  public init(_ value: Value) {
    cell = .allocate(capacity: 1)
    cell.initialize(to: value.bits)
  }

  deinit {
    ctl_forget(cell, MemoryLayout<UInt64>.size)
    cell.deallocate()
  }

  private var size: Int { MemoryLayout<Value>.size }

  private func change(_ change: ctl_change, _ operand: Value, _ place: ctl_place) -> Value {
    Value(bits: ctl_modify(cell, size, change, operand.bits, place))
  }
}

// Unchecked: all accesses are atomic.
extension Atomic: @unchecked Sendable where Value: Sendable {}

extension Atomic {
  public func load(
    ordering: AtomicLoadOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> Value {
    Value(bits: ctl_load(cell, size, ordering.order, ctl_place(file, line)))
  }

  public func store(
    _ value: Value, ordering: AtomicStoreOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) {
    ctl_store(cell, size, value.bits, ordering.order, ctl_place(file, line))
  }

  public func exchange(
    _ value: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> Value {
    change(CTL_EXCHANGE, value, ctl_place(file, line))
  }

  public func compareExchange(
    expected: Value, desired: Value, ordering: AtomicUpdateOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    var found = expected.bits
    let exchanged = ctl_compare_exchange(cell, size, &found, desired.bits, ctl_place(file, line))
    return (exchanged, Value(bits: found))
  }

  public func compareExchange(
    expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering,
    failureOrdering: AtomicLoadOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    compareExchange(
      expected: expected, desired: desired, ordering: successOrdering, file: file, line: line)
  }
}

extension Atomic where Value: FixedWidthInteger {
  @discardableResult
  public func bitwiseOr(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = change(CTL_OR, operand, ctl_place(file, line))
    return (old, old | operand)
  }

  @discardableResult
  public func bitwiseAnd(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = change(CTL_AND, operand, ctl_place(file, line))
    return (old, old & operand)
  }

  @discardableResult
  public func wrappingAdd(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = change(CTL_ADD, operand, ctl_place(file, line))
    return (old, old &+ operand)
  }

  @discardableResult
  public func wrappingSubtract(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = change(CTL_SUBTRACT, operand, ctl_place(file, line))
    return (old, old &- operand)
  }

  /// In several steps, each a point: a loop of exchanges allows what the one step of the original does, and no more.
  @discardableResult
  public func max(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    var old = load(ordering: .relaxed, file: file, line: line)
    while old < operand {
      let (exchanged, original) = compareExchange(
        expected: old, desired: operand, ordering: ordering, file: file, line: line)
      if exchanged { break }
      old = original
    }
    return (old, Swift.max(old, operand))
  }

  // Unlike the two additions above, these stop the program if the result overflows.

  @discardableResult
  public func add(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = change(CTL_ADD, operand, ctl_place(file, line))
    return (old, old + operand)
  }

  @discardableResult
  public func subtract(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = change(CTL_SUBTRACT, operand, ctl_place(file, line))
    return (old, old - operand)
  }
}

extension Atomic where Value == Bool {
  @discardableResult
  public func logicalOr(
    _ operand: Bool, ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> (oldValue: Bool, newValue: Bool) {
    let old = change(CTL_OR, operand, ctl_place(file, line))
    return (old, old || operand)
  }
}

/// A fence, which is a point.
public func atomicMemoryFence(
  ordering: AtomicUpdateOrdering, file: StaticString = #fileID, line: UInt32 = #line
) {
  ctl_fence(ctl_place(file, line))
}

extension ctl_place {
  init(_ file: StaticString, _ line: UInt32) {
    // A static string ends with a zero byte, and lives for ever.
    self.init(text: UnsafeRawPointer(file.utf8Start).assumingMemoryBound(to: CChar.self), line: line)
  }
}
