/// A property of a state that counts its assignments, so that an assignment of an equal value can be told from none.
///
/// ```swift
/// struct State {
///   @Pulse var alertMessage: String?
/// }
/// reactor.pulse(\.$alertMessage).subscribe(onNext: { … })
/// ```
///
/// Every assignment and every change in place increments ``valueUpdatedCount``, even if the value stays equal. The
/// counts of two states therefore show whether the value was assigned in between.
///
/// A pulse is a plain value: the rules about threads are those of the state that contains it.
@frozen
@propertyWrapper
public struct Pulse<Value> {
  @usableFromInline var current: Value
  @usableFromInline var updates = UInt.min

  /// Creates a pulse with a count of 0.
  @inlinable
  public init(wrappedValue: Value) { current = wrappedValue }

  /// The value. Setting it, or changing it in place, increments the count.
  @inlinable
  public var value: Value {
    get { current }
    set {
      current = newValue
      updates &+= 1
    }
    _modify {
      // Also if the change throws, because it may have changed a part of the value.
      defer { updates &+= 1 }
      yield &current
    }
  }

  /// The number of changes of the value. It wraps around from `UInt.max` to 0.
  @inlinable
  public internal(set) var valueUpdatedCount: UInt {
    get { updates }
    set { updates = newValue }
  }

  /// The value, for the property itself.
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
  /// Returns the values of a ``Pulse`` in the state as a stream: the value at the subscription, and then one for each
  /// state in which it was assigned, even if the values are equal.
  ///
  ///     reactor.pulse(\.$alertMessage).compactMap { $0 }.subscribe(onNext: { print($0) })
  ///
  /// If one mutation assigns it several times, only the last value is emitted. Observers are called on the threads
  /// that ``state`` names.
  @inlinable
  public func pulse<Value: Sendable>(
    _ pulse: @escaping @Sendable (State) throws -> Pulse<Value>
  ) -> Observable<Value> { state.pulses(pulse) }
}

extension Observable {
  @inlinable
  func pulses<Value: Sendable>(
    _ pulse: @escaping @Sendable (Element) throws -> Pulse<Value>
  ) -> Observable<Value> {
    map(pulse).distinctUntilChanged { $0.valueUpdatedCount == $1.valueUpdatedCount }.map { $0.value }
  }
}
