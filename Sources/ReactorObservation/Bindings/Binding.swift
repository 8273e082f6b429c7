import ReactorCore

/// A value that is read and set by closures: what a control of a user interface, a form or a console needs to show a property
/// of a state and to change it.
///
/// ```swift
/// @ReactorBindable var search = ObservedReactor(reactor: SearchReactor())
/// let text: Binding<String> = $search.text
/// text.wrappedValue = "reactor"    // shown at once, and sent as an action
/// ```
///
/// Any thread may use it; a reader that is being tracked has read the property that the closure reads.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value>: Sendable {
  private let get: @Sendable () -> Value
  private let set: @Sendable (Value) -> Void
  /// Whether an ``ObservedReactor`` shows the value, and announces then what differs. Otherwise only a change of a copy of a state
  /// can announce it.
  private let isShownByReactor: Bool
  /// Changes the value in place, in what is shown and in the reactor's state: nil if that cannot be done, so that the whole value is
  /// set.
  private let change: Change?

  typealias Change = @Sendable (@escaping @Sendable (inout Value) -> Void) -> Void

  /// Creates a binding.
  ///
  /// - Parameters:
  ///   - get: Returns the value. Called on the thread that reads.
  ///   - set: Sets it. Called on the thread that sets.
  public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
    self.init(get: get, set: set, isShownByReactor: false)
  }

  init(
    get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void, isShownByReactor: Bool,
    change: Change? = nil
  ) {
    self.get = get
    self.set = set
    self.isShownByReactor = isShownByReactor
    self.change = change
  }

  /// Returns a binding whose value never changes: setting it does nothing.
  ///
  /// - Parameter value: The value.
  public static func constant(_ value: Value) -> Binding<Value> where Value: Sendable {
    Binding(get: { value }, set: { _ in })
  }

  /// Creates a copy: for a parameter that is marked with `@Binding`, and is given a binding.
  ///
  /// - Parameter projectedValue: The binding.
  public init(projectedValue: Binding<Value>) { self = projectedValue }

  /// The value.
  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }

  /// The binding itself.
  public var projectedValue: Binding<Value> { self }

  /// A binding to a part of the value. Setting it sets the whole value, with the part replaced.
  ///
  /// - Parameter keyPath: The part.
  public subscript<Part>(
    dynamicMember keyPath: WritableKeyPath<Value, Part> & Sendable
  ) -> Binding<Part> { part(keyPath) { _ in } }

  /// - Parameter prepare: Called with a copy of a value that a reactor shows, before the part of that is replaced.
  private func part<Part>(
    _ keyPath: WritableKeyPath<Value, Part> & Sendable, _ prepare: @escaping @Sendable (inout Value) -> Void
  ) -> Binding<Part> {
    Binding<Part>(
      get: { self.get()[keyPath: keyPath] },
      set: { part in
        var value = self.get()
        if isShownByReactor {
          prepare(&value)
          // An observer that is told now would read the old value.
          TurnMark.whileReducing { value[keyPath: keyPath] = part }
        } else {
          value[keyPath: keyPath] = part
        }
        self.set(value)
      },
      isShownByReactor: isShownByReactor)
  }
}

// A copy of a state that is shown has the readers of that. It gets readers of its own, because it becomes the reactor's: what the
// reactor does to it later is announced by the state that is shown then.

extension Binding where Value: ObservableState & SendableMetatype {
  /// A binding to a property of a state. Setting it sets the whole state, with the property replaced; that is announced when the
  /// state is shown. For a property that is `Sendable`, see the other subscript.
  ///
  /// - Parameter keyPath: The property.
  public subscript<Part>(
    dynamicMember keyPath: WritableKeyPath<Value, Part> & Sendable
  ) -> Binding<Part> { part(keyPath) { $0._$adopt(from: nil) } }

  /// A binding to a property of a state. Setting it sets that property in the state that is shown, and in the reactor's: what the
  /// reactor has changed in the state meanwhile stays. A binding to a computed property, or through a subscript, sets the whole state,
  /// since it need not exist in the reactor's.
  ///
  /// - Parameter keyPath: The property.
  public subscript<Part: Sendable>(
    dynamicMember keyPath: WritableKeyPath<Value, Part> & Sendable
  ) -> Binding<Part> {
    guard let change, Value._$isStored(keyPath) else { return part(keyPath) { $0._$adopt(from: nil) } }
    return Binding<Part>(
      get: { get()[keyPath: keyPath] }, set: { part in change { $0[keyPath: keyPath] = part } },
      isShownByReactor: true, change: { body in change { body(&$0[keyPath: keyPath]) } })
  }
}

extension Binding {
  /// A binding to a part of an optional state. Setting it sets the whole state: the reactor's may be nil by then.
  ///
  /// - Parameter keyPath: The part.
  public subscript<State: ObservableState & SendableMetatype, Part>(
    dynamicMember keyPath: WritableKeyPath<Value, Part> & Sendable
  ) -> Binding<Part> where Value == State? { part(keyPath) { $0?._$adopt(from: nil) } }
}
