import ReactorCore

/// The runtimes of reactors that store none.
@usableFromInline
let attachedRuntimes = AttachmentTable()

extension Reactor {
  /// The runtime of a reactor that does not store one: made at the first touch, with placement
  /// ``Placement/caller``, and kept beside the object until shortly after that is gone.
  ///
  /// Its mailbox holds 1024 actions. To be found costs each send a look-up, and the runtime's end comes up to
  /// a second after the reactor's. A stored runtime costs neither. Any thread; the look-up takes a mutex for
  /// a moment.
  @inlinable
  public var runtime: Runtime<Action, Mutation, State> {
    // Nothing else is attached to a reactor, whose type does not change.
    attachedRuntimes.value(of: self, as: Runtime<Action, Mutation, State>.self) {
      #if DEBUG
        checkForOtherRuntime(self)
      #endif
      return Runtime(capacity: 1024)
    }
  }
}

#if DEBUG
  /// A stored runtime with other types does not fulfil the protocol, so this one would be used instead of it.
  @usableFromInline
  func checkForOtherRuntime(_ reactor: some Reactor) {
    precondition(
      !Mirror(reflecting: reactor).children.contains { $0.label == "runtime" },
      """
      Problem: \(type(of: reactor)) stores a runtime that is not used.
      Likely cause: its types are not those of the reactor's Action, Mutation and State.
      Remedy: let runtime = Runtime<Action, Mutation, State>(on: …)
      """)
  }
#endif
