#if DEBUG
  import ReactorCore
  import Synchronization

  /// Checks of what happens in a turn.
  extension Runtime {
    /// Around each turn, and around what the shortest way of an action does instead of one. The owner.
    @usableFromInline
    func beginTurn() -> ThreadTurn? { ThreadTurn.begin(of: ObjectIdentifier(self), reactorType) }

    /// - Parameter turn: What ``beginTurn()`` has answered.
    @usableFromInline
    func endTurn(_ turn: ThreadTurn?) {
      guard let duration = turn?.end(), duration > Hooks.longTurnThreshold else { return }
      warn(.longTurn) { reactor, thread in
        "a turn of \(reactor) took \(duration), on \(thread)."
      }
    }

    /// A send has found no room, and would have to wait if it were not inside of a turn.
    func checkRoom() {
      guard let turn = ThreadTurn.innermost else { return }
      warn(.blockingSend) { reactor, thread in
        """
        a send to \(reactor) found its mailbox full, inside of a turn of \(String(reflecting: turn.reactor)), on \
        \(thread). It does not wait there; what it sends is kept beside the mailbox.
        """
      }
    }

    /// Around each call of `reduce`.
    @usableFromInline
    func beginReduce() {
      let running = checks.reducing.wrappingAdd(1, ordering: .relaxed).oldValue
      guard running > 0 else { return }
      warn(.reduceEnteredTwice) { reactor, thread in
        "reduce of \(reactor) was entered on \(thread) while it was running already."
      }
    }

    @usableFromInline
    func endReduce() { checks.reducing.wrappingSubtract(1, ordering: .relaxed) }
  }
#endif
