import ReactorCore

/// How the state of a reactor is shown to readers on other threads, and what that costs.
///
/// | policy | an action costs | a read costs | readers see |
/// |---|---|---|---|
/// | ``copied`` | one copy of the state per turn, and a copy of each collection that the turn changes | one copy; it never waits | the state after a turn |
/// | ``onDemand`` | two stores; after a read, two operations on a word | it may wait for the end of one action, and the owner for the read | the state after an action |
/// | ``replayed`` | each mutation is reduced twice | it never waits | the state after a turn |
///
/// A copy of a collection shares its elements, so the first change after the copy copies all of them: with ``copied``
/// that is once per turn, whatever the turn changes.
public enum SnapshotPolicy: Sendable, Hashable {
  /// ``copied`` if the state has at most 256 bytes and contains no references, so no collections and no strings;
  /// otherwise ``onDemand``. The default: the cost of an action does not grow with the state.
  case automatic
  /// The owner changes a copy, once per turn, and shows it to readers at the end of the turn.
  ///
  /// Readers and the owner never wait for each other. For states that are cheap to copy.
  case copied
  /// The owner changes the state where readers read it, and they take turns.
  ///
  /// A reader waits until the mutations that the running action has returned at once are reduced, never for the whole turn, nor for
  /// `mutate`. If it had to sleep, other actions may come first, for a millisecond at most. While nothing is being reduced,
  /// any number of threads read at the same time. The owner waits for readers before it reduces, so a body of
  /// `withCurrentState` should be short, and must not wait for something that this reactor does.
  ///
  /// After 4096 changes without a read, changes become cheaper, and the next read takes about 10 µs longer if the reactor is busy,
  /// since the kernel must reach the threads of the process. Not on the pure-Swift core, or where the kernel has no `membarrier`.
  ///
  /// A copy that `currentState` returned, and that is still alive at the next change, makes that change copy what both
  /// share. `withCurrentState` does not. Inside `reduce(into:mutation:)` the reactor's own state can be read only through
  /// the parameter.
  case onDemand
  /// There are two states. The owner shows one to readers, and changes the other, to which it first applies what the turn
  /// before has changed in the shown one.
  ///
  /// For large states with readers that must not wait. It takes twice the memory, and `reduce(into:mutation:)` is called twice
  /// with each mutation, at different times: it must be a function of its arguments. With a random number, a clock, an object that
  /// it changes, or a message that it sends, readers would see one state and then another. Debug builds warn about that if the
  /// state is `Equatable` (``Warning/Kind-swift.enum/impureReduce``).
  ///
  /// The runtime keeps the mutations of a turn until the next one has begun. If a reader stays in the earlier state, the
  /// owner waits some microseconds for it. Then it continues in a still earlier state, or copies if there is none.
  /// ``ReactorCounters/copiedStates`` counts these copies.
  ///
  /// What `reduce(state:mutation:)` or `transform(state:)` returns is a new state, which is shown as with ``copied``.
  case replayed

  /// How a state of that type is changed.
  func form<State>(of _: State.Type) -> StateForm {
    switch self {
    case .automatic: StateForm.usual(for: State.self)
    case .copied: .slots
    case .onDemand: .onePlace
    case .replayed: .replayed
    }
  }
}
