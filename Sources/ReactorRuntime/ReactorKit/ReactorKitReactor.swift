import ReactorCore

/// A reactor as ReactorKit's users write it: with ``reduce(state:mutation:)``, no runtime of its own, and ReactorKit's
/// defaults.
///
/// The product `ReactorKitCompatibility` gives it the name `Reactor`. New code conforms to ``Reactor``, which has no default
/// that could lose something: there the compiler finds a method that is missing or misspelt. Here, as in ReactorKit, such a
/// method compiles and has no effect; debug builds warn of it when it should run.
public protocol ReactorKitReactor<Action, Mutation, State>: Reactor {
  /// Returns the state after a mutation. Runs on the owner. `currentState` is the state before it meanwhile. The default
  /// applies ``Reactor/reduce(into:mutation:)`` to a copy, whose default here changes nothing.
  func reduce(state: State, mutation: Mutation) -> State

  /// The subject that takes actions: see ``Reactor/action``. A reactor that forwards to another one, or a replacement in a test,
  /// may implement this, ``state`` and ``currentState`` itself. Code that is generic over `ReactorKitReactor`, and
  /// ``pulse(_:)``, then use these. All else uses the runtime: every way to send, ``Reactor/withCurrentState(_:)``, stubs, code that is
  /// generic over ``Reactor``, and what observes reactors.
  var action: ActionSubject<Action> { get }

  /// The stream of states: see ``Reactor/state``.
  var state: Observable<State> { get }

  /// A whole state: see ``Reactor/currentState``.
  var currentState: State { get }
}

/// The type of the actions of a reactor that has none.
public enum NoAction: Sendable {}

/// The type of the mutations of a reactor that has none.
public enum NoMutation: Sendable {}

extension ReactorKitReactor {
  @inlinable
  public static var reducesByValue: Bool { true }

  @inlinable
  public func mutate(action: Action) -> Observable<Mutation> {
    #if DEBUG
      reportMissing("mutate(action:)", "an action")
    #endif
    return .empty()
  }

  @inlinable
  public func reduce(into state: inout State, mutation: Mutation) {
    #if DEBUG
      reportMissing("reduce(state:mutation:)", "a mutation")
    #endif
  }
}

extension ReactorKitReactor {
  /// As ``Reactor/pulse(_:)``, with the ``state`` that the reactor may implement itself.
  @inlinable
  public func pulse<Value: Sendable>(
    _ pulse: @escaping @Sendable (State) throws -> Pulse<Value>
  ) -> Observable<Value> { state.pulses(pulse) }
}

extension ReactorKitReactor where Action == Mutation {
  @inlinable
  public func mutate(action: Action) -> Observable<Mutation> { passActionOn(action) }
}

extension ReactorKitReactor {
  /// The runtime of a reactor that does not store one. It is made at the first use, with placement
  /// ``Placement/caller``, and kept in a side table until shortly after the reactor is gone.
  ///
  /// Its mailbox holds 1024 actions. Each send has to look the runtime up, and the runtime ends up to a second after the
  /// reactor, or as soon as one of the reactor's streams emits. Until then these streams run. A stored runtime has neither cost.
  /// Any thread; the look-up takes a mutex for a moment.
  ///
  /// Stops the program if the reactor stores a `runtime` of other types than its own: that would not be used.
  @inlinable
  public var runtime: Runtime<Action, Mutation, State> {
    // The value is of this type: nothing else is attached to a reactor, and its type does not change.
    attachedRuntimes.value(of: self, as: Runtime<Action, Mutation, State>.self) {
      checkForOtherRuntime(self)
      return Runtime(capacity: 1024)
    }
  }
}

@usableFromInline
func checkForOtherRuntime(_ reactor: some Reactor) {
  guard !Mirror(reflecting: reactor).children.contains(where: { $0.label == "runtime" }) else {
    fatalError(
      """
      Problem: \(type(of: reactor)) stores a runtime that is not used.
      Likely cause: its types are not those of the reactor's Action, Mutation and State.
      Remedy: let runtime = Runtime<Action, Mutation, State>(on: …)
      """)
  }
}

#if DEBUG
  extension ReactorKitReactor {
    @usableFromInline
    func reportMissing(_ method: String, _ what: String) {
      Warning.report(.missingMethod, Self.self) { reactor, _ in
        "\(reactor) has no \(method), so \(what) had no effect."
      }
    }
  }
#endif
