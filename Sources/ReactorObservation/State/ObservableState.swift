import Observation

/// The protocol that Observation calls `Observable`. The macro names it by this alias, so that a file with states need not
/// import Observation, whose name collides with that of the streams.
public typealias _$Observable = Observation.Observable

/// A state whose properties are observed one by one. Types get the conformance from the macro ``ObservableState()``.
///
/// The members with `_$` are for what the macro generates.
public protocol ObservableState {
  /// Changes with each change of a tracked property.
  var _$id: ObservableStateID { get }

  /// Whether ``_$announce(changesFrom:)`` announces what was read by ``_$access(_:)``. If not, each new state is announced to
  /// all that have read a property of it.
  static var _$announcesProperties: Bool { get }

  /// Whether a key path is known to lead to a stored property, so that it can be set whatever the state is: a subscript may have no
  /// such element, and a computed property may need one.
  ///
  /// - Parameter keyPath: The key path.
  static func _$isStored(_ keyPath: PartialKeyPath<Self>) -> Bool

  /// Notes that the property is read.
  ///
  /// - Parameter keyPath: The property.
  func _$access<Member>(_ keyPath: KeyPath<Self, Member>)

  /// Makes the readers of `old` the readers of this state, so that both announce to the same ones.
  ///
  /// - Parameter old: The state that this one replaces; nil if there is none, or nobody has read it; a copy of this state for
  ///   the first one of an ``ObservedReactor``, which then adopts from nil.
  mutating func _$adopt(from old: Self?)

  /// Announces the properties that differ from `old`, which this state has adopted the readers of.
  ///
  /// - Parameter old: The state that this one has replaced.
  /// - Returns: Whether a pulse of this state, or of a state inside of it, was assigned. That changes no identity, so the property
  ///   that contains this state must be announced although it is the same.
  func _$announce(changesFrom old: Self) -> Bool
}

// What a type that conforms without the macro gets: each state is a new one.
extension ObservableState {
  public var _$id: ObservableStateID { ObservableStateID() }
  public static var _$announcesProperties: Bool { false }
  public static func _$isStored(_ keyPath: PartialKeyPath<Self>) -> Bool { false }
  public func _$access<Member>(_ keyPath: KeyPath<Self, Member>) {}
  public mutating func _$adopt(from old: Self?) {}
  public func _$announce(changesFrom old: Self) -> Bool { false }
}

// MARK: - Calls for values whose type may be a state
//
// The macro sees the text of a type, not the type. So it calls these, and the compiler chooses.

/// Returns the identity of an enum's case that has a state as its value.
@inlinable
public func _$id<State: ObservableState>(of state: State, case index: Int, of count: Int) -> ObservableStateID
{
  state._$id.tagged(index, of: count)
}

/// Of a value that is no state nothing is known: no two are the same.
@inlinable
@_disfavoredOverload
public func _$id<Value>(of value: Value, case index: Int, of count: Int) -> ObservableStateID {
  ObservableStateID()
}

/// Makes the readers of the old state those of the new one.
@inlinable
public func _$adopt<State: ObservableState>(_ state: inout State, from old: State?) {
  state._$adopt(from: old)
}

/// Makes the readers of the old state those of the new one, if there are both.
@inlinable
public func _$adopt<State: ObservableState>(_ state: inout State?, from old: State??) {
  state?._$adopt(from: old ?? nil)
}

/// Does nothing, since the value is no state.
@inlinable
@_disfavoredOverload
public func _$adopt<Value>(_ value: inout Value, from old: Value?) {}

/// Announces what differs between two states.
///
/// - Returns: Whether a pulse was assigned, which is also noted in `hasPulse`.
@inlinable
@discardableResult
public func _$announce<State: ObservableState>(_ new: State, from old: State, noting hasPulse: inout Bool)
  -> Bool
{
  guard new._$announce(changesFrom: old) else { return false }
  hasPulse = true
  return true
}

/// Announces what differs between two states, if there are both. Otherwise the property that contains them has changed.
///
/// - Returns: Whether a pulse was assigned, which is also noted in `hasPulse`.
@inlinable
@discardableResult
public func _$announce<State: ObservableState>(_ new: State?, from old: State?, noting hasPulse: inout Bool)
  -> Bool
{
  guard let new, let old else { return false }
  return _$announce(new, from: old, noting: &hasPulse)
}

/// Does nothing, since the values are no states.
@inlinable
@_disfavoredOverload
@discardableResult
public func _$announce<Value>(_ new: Value, from old: Value, noting hasPulse: inout Bool) -> Bool { false }
