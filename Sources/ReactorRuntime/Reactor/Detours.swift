/// What takes a reactor's actions off the shortest way. An empty set, of a reactor that is nothing but
/// `mutate` and `reduce`, costs one load and one branch per action. (Computed, not stored, so that they are
/// constants in other modules.)
@usableFromInline
struct Detours: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Somebody observes `action`.
  @inlinable static var observedAction: Detours { Detours(rawValue: 1) }
  /// Somebody observes `state`.
  @inlinable static var observedState: Detours { Detours(rawValue: 2) }
  @inlinable static var transformedAction: Detours { Detours(rawValue: 4) }
  @inlinable static var transformedMutation: Detours { Detours(rawValue: 8) }
  @inlinable static var transformedState: Detours { Detours(rawValue: 16) }
  /// The transforms' streams are not yet subscribed to.
  @inlinable static var unconnected: Detours { Detours(rawValue: 32) }
  /// A transform has ended: nothing is processed any more.
  @inlinable static var broken: Detours { Detours(rawValue: 64) }
  /// The stub takes the actions.
  @inlinable static var stubbed: Detours { Detours(rawValue: 128) }

  /// Where an action goes elsewhere than from its observers to `mutate`.
  @inlinable static var sidings: Detours { [.transformedAction, .unconnected, .broken, .stubbed] }
  @inlinable static var transformed: Detours {
    [.transformedAction, .transformedMutation, .transformedState]
  }
}
