#if DEBUG
  import ReactorCore

  /// Checks of where something runs. Each is called right before it does, by the thread that will run it.
  extension Runtime {
    /// An action reaches `mutate`.
    @usableFromInline
    func checkThreadOfAction() {
      guard let expected = checks.expectedThread.value, !expected.isCurrent() else { return }
      warn(.unexpectedThread) { reactor, thread in
        "\(reactor) received an action on another thread than \(expected.name): \(thread)."
      }
    }

    /// Observers of `state` are called.
    @usableFromInline
    func checkThreadOfObservers() {
      // A closed reactor may have observers without having started.
      guard state.hasStarted, let promised = promisedThread, !promised.isCurrent() else { return }
      warn(.foreignObserver) { reactor, thread in
        """
        an observer of the state of \(reactor) is called on another thread than \(promised.name): \
        \(thread).
        """
      }
    }

    /// A stream that `mutate` or a `transform` answered has emitted. On a loop that may be anywhere; and in a
    /// turn it is where the action is.
    @usableFromInline
    func checkThreadOfSource() {
      guard loop == nil, !isInTurn, let expected = checks.expectedThread.value, !expected.isCurrent()
      else { return }
      warn(.foreignSource) { reactor, thread in
        """
        a stream of \(reactor), of its mutate or a transform, emits on another thread than \(expected.name): \
        \(thread).
        """
      }
    }

    /// Where the reactor says, or else where its placement says that its turns run.
    private var promisedThread: ExpectedThread? {
      if let expected = checks.expectedThread.value { return expected }
      guard let loop else { return nil }
      return ExpectedThread("its loop's thread") { loop.isCurrent }
    }
  }
#endif
