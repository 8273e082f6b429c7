import ReactorRuntime

/// Gives bindings to the properties of a reactor's state: `$reactor.text`.
///
/// ```swift
/// @ReactorBindable var reactor = ObservedReactor(reactor: SearchReactor())
/// let isOn: Binding<Bool> = $reactor.isOn
/// ```
///
/// The state conforms to ``ObservableState``, and the action to ``BindableAction``. Setting a binding shows the new value at
/// once and sends it as ``BindableAction/binding(_:)``. For another action, see
/// ``ObservedReactor/binding(get:send:)-(_,(Value)->R.Action)``.
@propertyWrapper
@dynamicMemberLookup
public struct ReactorBindable<R: Reactor>: Sendable where R.State: ObservableState {
  /// The observed reactor.
  public var wrappedValue: ObservedReactor<R>

  /// Creates a wrapper.
  ///
  /// - Parameter wrappedValue: The observed reactor.
  public init(wrappedValue: ObservedReactor<R>) { self.wrappedValue = wrappedValue }

  /// Creates a wrapper: for local use, as in `ReactorBindable(reactor).text`.
  ///
  /// - Parameter observed: The observed reactor.
  public init(_ observed: ObservedReactor<R>) { wrappedValue = observed }

  /// Creates a copy: for a parameter that is marked with `@ReactorBindable`.
  ///
  /// - Parameter projectedValue: The wrapper.
  public init(projectedValue: Self) { self = projectedValue }

  /// What gives the bindings.
  public var projectedValue: Self { self }
}

extension ReactorBindable where R.Action: BindableAction, R.Action.State == R.State {
  /// A binding to a property. Any thread.
  ///
  /// - Parameter keyPath: The property.
  public subscript<Value: Sendable>(
    dynamicMember keyPath: WritableKeyPath<R.State, Value> & Sendable
  ) -> Binding<Value> {
    let observed = wrappedValue
    var change: Binding<Value>.Change?
    if R.State._$isStored(keyPath) { change = { body in observed.changeAndSend(keyPath, body) } }
    return Binding(
      get: { observed[dynamicMember: keyPath] }, set: { observed[dynamicMember: keyPath] = $0 },
      isShownByReactor: true, change: change)
  }
}

extension ObservedReactor {
  /// Returns a binding that sends an action of its own when it is set. The value that is shown changes only if the reactor
  /// changes it. Any thread.
  ///
  /// - Parameters:
  ///   - keyPath: The property that is read.
  ///   - action: Returns the action for a new value. Called on the thread that sets.
  public func binding<Value>(
    get keyPath: KeyPath<R.State, Value> & Sendable, send action: @escaping @Sendable (Value) -> R.Action
  ) -> Binding<Value> {
    Binding(get: { self.read(keyPath) }, set: { self.send(action($0)) }, isShownByReactor: true)
  }

  /// Returns a binding that sends the same action whenever it is set. Any thread.
  ///
  /// - Parameters:
  ///   - keyPath: The property that is read.
  ///   - action: The action.
  public func binding<Value>(
    get keyPath: KeyPath<R.State, Value> & Sendable, send action: R.Action
  ) -> Binding<Value> {
    Binding(get: { self.read(keyPath) }, set: { _ in self.send(action) }, isShownByReactor: true)
  }
}
