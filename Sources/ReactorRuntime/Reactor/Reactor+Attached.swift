import ReactorCore

/// The runtimes of reactors that store none.
@usableFromInline
let attachedRuntimes = AttachmentTable()

extension Reactor {
  /// The runtime of a reactor that does not store one. It is made at the first use, with placement
  /// ``Placement/caller``, and kept in a side table until shortly after the reactor is gone.
  ///
  /// Its mailbox holds 1024 actions. Each send has to look the runtime up, and the runtime ends up to a second after the
  /// reactor. A stored runtime has neither cost. Any thread; the look-up takes a mutex for a moment.
  @inlinable
  public var runtime: Runtime<Action, Mutation, State> {
    // The value is of this type: nothing else is attached to a reactor, and its type does not change.
    attachedRuntimes.value(of: self, as: Runtime<Action, Mutation, State>.self) {
      #if DEBUG
        checkForOtherRuntime(self)
      #endif
      return Runtime(capacity: 1024)
    }
  }
}

#if DEBUG
  /// Stops the program if the reactor stores a runtime with other types: it would not fulfil the protocol, and this one
  /// would be used instead.
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
