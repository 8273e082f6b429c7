/// An action that may be the assignment of a value to a property of the state, so that bindings can send it.
///
/// ```swift
/// enum Action: BindableAction {
///   case binding(BindingAction<State>)
///   case submit
/// }
/// ```
public protocol BindableAction {
  /// The state of the reactor.
  associatedtype State

  /// Returns the action that makes an assignment. A case of an enum with this name will do.
  ///
  /// - Parameter action: The assignment.
  static func binding(_ action: BindingAction<State>) -> Self
}

/// The assignment of a value to a property of a state: what a binding sends.
///
/// `mutate` passes it on as a part of a mutation, and `reduce` applies it:
///
/// ```swift
/// case .binding(let binding): binding.apply(to: &state)
/// ```
///
/// `case .binding(\.text):` tells which property it is, and so does `if \State.text ~= binding`. Two of them are equal if they
/// assign equal values to the same property. An assignment of a value that is not `Equatable` is equal to none, not even to itself;
/// nor is what a binding to a part of a property sends.
public struct BindingAction<Root>: Sendable {
  private let path: any Sendable & PartialKeyPath<Root>
  private let value: any Sendable
  private let assignment: @Sendable (inout Root) -> Void

  /// The property.
  public var keyPath: PartialKeyPath<Root> { path }

  /// Returns the assignment of a value to a property.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - value: Its new value.
  public static func set<Value: Sendable>(
    _ keyPath: WritableKeyPath<Root, Value> & Sendable, _ value: Value
  ) -> Self { Self(path: keyPath, value: value, assignment: { $0[keyPath: keyPath] = value }) }

  /// Returns the change of a part of a property. What else the reactor has changed in the property stays. It has the key path of the
  /// property, and is equal to no other action: which part it changes is not known.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - body: Makes the change.
  static func change<Value: Sendable>(
    _ keyPath: WritableKeyPath<Root, Value> & Sendable, by body: @escaping @Sendable (inout Value) -> Void
  ) -> Self { Self(path: keyPath, value: Part(), assignment: { body(&$0[keyPath: keyPath]) }) }

  /// Stands for a value that cannot be compared.
  private struct Part: Sendable {}

  /// Makes the assignment. Any thread.
  ///
  /// - Parameter state: The state.
  public func apply(to state: inout Root) { assignment(&state) }

  /// Whether the assignment is to that property.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - action: The assignment.
  public static func ~= <Value>(keyPath: WritableKeyPath<Root, Value>, action: Self) -> Bool {
    action.keyPath == keyPath
  }
}

extension BindingAction: Equatable {
  public static func == (left: Self, right: Self) -> Bool {
    // The value's type is not known here, nor where a binding makes the action.
    guard left.keyPath == right.keyPath, let value = left.value as? any Equatable else { return false }
    return value.isEqual(to: right.value)
  }
}

extension Equatable {
  fileprivate func isEqual(to other: any Sendable) -> Bool { other as? Self == self }
}
