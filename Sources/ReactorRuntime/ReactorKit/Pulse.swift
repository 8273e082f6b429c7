/// A property of a state that tells each assignment from no assignment, even of an equal value.
///
/// ```swift
/// struct State {
///   @Pulse var alertMessage: String?
/// }
/// reactor.pulse(\.$alertMessage).subscribe(onNext: { … })
/// ```
///
/// Every change of the value, in place or not, raises ``valueUpdatedCount``, also one that leaves it equal.
/// So who compares the counts of two states knows whether something was assigned in between.
///
/// A value like any other: it follows the thread rules of what it is a property of.
@frozen
@propertyWrapper
public struct Pulse<Value> {
  @usableFromInline var current: Value
  @usableFromInline var updates = UInt.min

  /// A pulse that was not assigned yet.
  @inlinable
  public init(wrappedValue: Value) { current = wrappedValue }

  /// The value. Setting it, or changing it in place, raises the count.
  @inlinable
  public var value: Value {
    get { current }
    set {
      current = newValue
      updates &+= 1
    }
    _modify {
      // Also if the change throws: it may have been half done.
      defer { updates &+= 1 }
      yield &current
    }
  }

  /// How often the value was changed. After `UInt.max` comes 0.
  @inlinable
  public internal(set) var valueUpdatedCount: UInt {
    get { updates }
    set { updates = newValue }
  }

  /// The value, as the property itself shows it.
  @inlinable
  public var wrappedValue: Value {
    get { value }
    set { value = newValue }
    _modify { yield &value }
  }

  /// The pulse itself: `state.$alertMessage`.
  @inlinable
  public var projectedValue: Self { self }
}

extension Pulse: Sendable where Value: Sendable {}

extension Reactor {
  /// The values of a ``Pulse`` in the state: the one at the subscription, and then each that was set, equal
  /// ones too; nothing for states in which it was not set.
  ///
  ///     reactor.pulse(\.$alertMessage).compactMap { $0 }.subscribe(onNext: { print($0) })
  ///
  /// If it was set several times in one mutation, the last value is emitted. See ``state`` for threads.
  @inlinable
  public func pulse<Value: Sendable>(
    _ pulse: @escaping @Sendable (State) throws -> Pulse<Value>
  ) -> Observable<Value> {
    state.map(pulse).distinctUntilChanged { $0.valueUpdatedCount == $1.valueUpdatedCount }.map { $0.value }
  }
}
