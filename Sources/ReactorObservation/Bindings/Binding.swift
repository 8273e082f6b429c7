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

  /// Creates a binding.
  ///
  /// - Parameters:
  ///   - get: Returns the value. Called on the thread that reads.
  ///   - set: Sets it. Called on the thread that sets.
  public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
    self.get = get
    self.set = set
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
  ) -> Binding<Part> {
    Binding<Part>(
      get: { self.get()[keyPath: keyPath] },
      set: { part in
        var value = self.get()
        value[keyPath: keyPath] = part
        self.set(value)
      })
  }
}
