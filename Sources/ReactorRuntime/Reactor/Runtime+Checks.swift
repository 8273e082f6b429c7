#if DEBUG
  import ReactorCore
  import Synchronization

  /// The data that the checks of a debug build keep for one reactor.
  @usableFromInline
  final class RuntimeChecks: Sendable {
    /// Where the reactor expects its actions. Set when the reactor starts.
    let expectedThread = OwnerIsolated<ExpectedThread?>(nil)
    /// The number of calls of `reduce` in progress. Relaxed, since no other memory is read depending on it.
    let reducing = Atomic(0)
    let copies = OwnerIsolated(CopyWatch())
    let replays = OwnerIsolated(ReplayWatch())
    /// The one reactor that the runtime serves. Set when the reactor starts.
    @usableFromInline let reactor = OwnerIsolated<ObjectIdentifier?>(nil)

    @usableFromInline
    init() {}
  }

  extension Runtime {
    /// Called when the reactor starts, by the thread that starts it.
    @usableFromInline
    func beginChecks(of reactor: some Reactor) { checks.expectedThread.value = reactor.expectedThread }

    /// Stops the program if this runtime serves another reactor. Any thread, once the reactor has started.
    @usableFromInline
    func checkServes(_ reactor: some Reactor) {
      guard checks.reactor.value == ObjectIdentifier(reactor) else {
        fatalError(
          """
          Problem: one Runtime serves two reactors of type \(type(of: reactor)).
          Likely cause: both were given the same object, or runtime is a static property.
          Remedy: give each reactor a Runtime of its own.
          """)
      }
    }

    func warn(_ kind: Warning.Kind, _ problem: (_ reactor: String, ThreadLabel) -> String) {
      Warning.report(kind, reactorType, problem)
    }
  }

  /// Checks of threads. Each is called right before the code that it checks, on the thread that runs that code.
  extension Runtime {
    /// Called before `mutate`.
    @usableFromInline
    func checkThreadOfAction() {
      guard let expected = checks.expectedThread.value, !expected.isCurrent() else { return }
      warn(.unexpectedThread) { reactor, thread in
        "\(reactor) received an action on another thread than \(expected.name): \(thread)."
      }
    }

    /// Called before the observers of `state`.
    @usableFromInline
    func checkThreadOfObservers() {
      // A reactor that was closed before it started may have observers, and no expected thread yet.
      guard state.hasStarted, let promised = promisedThread, !promised.isCurrent() else { return }
      warn(.foreignObserver) { reactor, thread in
        """
        an observer of the state of \(reactor) was called on another thread than \(promised.name): \
        \(thread).
        """
      }
    }

    /// Called when a stream that `mutate` or a `transform` returned emits. Nothing is checked for a reactor on a
    /// loop, whose streams may emit on any thread, nor inside of a turn, where the stream emits on the thread of
    /// the action, which was checked.
    @usableFromInline
    func checkThreadOfSource() {
      guard loop == nil, !isInTurn, let expected = checks.expectedThread.value, !expected.isCurrent()
      else { return }
      warn(.foreignSource) { reactor, thread in
        """
        a stream that mutate or a transform of \(reactor) returned emitted on another thread than \
        \(expected.name): \(thread).
        """
      }
    }

    /// The reactor's `expectedThread`; without it, the thread of its loop if it has one.
    private var promisedThread: ExpectedThread? {
      if let expected = checks.expectedThread.value { return expected }
      guard let loop else { return nil }
      return ExpectedThread("its loop's thread") { loop.isCurrent }
    }
  }

  /// Checks of turns.
  extension Runtime {
    /// Called by the owner before each turn, and before each action.
    @usableFromInline
    func beginTurn() -> ThreadTurn? { ThreadTurn.begin(of: ObjectIdentifier(self), reactorType) }

    /// Called by the owner after what ``beginTurn()`` precedes.
    ///
    /// - Parameter turn: The result of ``beginTurn()``.
    @usableFromInline
    func endTurn(_ turn: ThreadTurn?) {
      if let duration = durationIfLong(ending: turn) { warnOfLongTurn(duration) }
    }

    /// Ends what ``beginTurn()`` has begun. Returns how long that took if it is worth a warning. The owner.
    @usableFromInline
    func durationIfLong(ending turn: ThreadTurn?) -> Duration? {
      guard let duration = turn?.end(), duration > Hooks.longTurnThreshold else { return nil }
      return duration
    }

    @usableFromInline
    func warnOfLongTurn(_ duration: Duration) {
      warn(.longTurn) { reactor, thread in
        "a turn of \(reactor) took \(duration) on \(thread)."
      }
    }

    /// Called when a send has found no room. Outside of turns it waits; inside of a turn it must not, which is
    /// worth a warning.
    func checkRoom() {
      guard let turn = ThreadTurn.innermost else { return }
      warn(.keptSend) { reactor, thread in
        """
        a send to \(reactor) from inside of a turn of \(String(reflecting: turn.reactor)) found the mailbox full, \
        on \(thread). A turn does not wait, so the action is kept beside the mailbox.
        """
      }
    }

    /// Called before each call of `reduce`.
    @usableFromInline
    func beginReduce() {
      let running = checks.reducing.wrappingAdd(1, ordering: .relaxed).oldValue
      if state.isOwner { beginWatchingCopies() }
      guard running > 0 else { return }
      warn(.reduceEnteredTwice) { reactor, thread in
        "reduce of \(reactor) was called on \(thread) while another call of it was running."
      }
    }

    /// Called after each call of `reduce`.
    @usableFromInline
    func endReduce() {
      checks.reducing.wrappingSubtract(1, ordering: .relaxed)
      if state.isOwner { endWatchingCopies() }
    }
  }
#endif
