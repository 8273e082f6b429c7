import Glibc
import ReactorCore

#if DEBUG
  import ReactorCore
  import Synchronization

  /// What the checks of a debug build note about one reactor.
  @usableFromInline
  final class RuntimeChecks: Sendable {
    /// Set at the start.
    let expectedThread = OwnerIsolated<ExpectedThread?>(nil)
    /// How many calls of `reduce` are running. Relaxed: nothing else is read because of it.
    let reducing = Atomic(0)

    @usableFromInline
    init() {}
  }

  extension Runtime {
    /// The reactor starts. Who starts it.
    @usableFromInline
    func beginChecks(of reactor: some Reactor) { checks.expectedThread.value = reactor.expectedThread }

    func warn(_ kind: Warning.Kind, _ problem: (_ reactor: String, ThreadLabel) -> String) {
      Warning.report(kind, reactorType, problem)
    }
  }
#endif

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

/// Where a reactor expects its actions: ``Reactor/expectedThread``.
public struct ExpectedThread: Sendable {
  /// As part of a sentence: "the main thread".
  let name: String
  let isCurrent: @Sendable () -> Bool

  /// - Parameters:
  ///   - name: What it is called in a warning, as part of a sentence.
  ///   - isCurrent: Whether the calling thread is there.
  public init(_ name: String, isCurrent: @escaping @Sendable () -> Bool) {
    self.name = name
    self.isCurrent = isCurrent
  }

  /// The main thread of the process, and whatever thread runs its main queue or the ``MainLoop``.
  public static let main = ExpectedThread("the main thread") {
    MainScheduler.isCurrent || MainLoop.isCurrent || isFirstThread
  }

  /// The thread of a loop.
  public static func loop(_ loop: Loop) -> ExpectedThread {
    ExpectedThread("its loop's thread") { loop.isCurrent }
  }

  // The process has the number of its first thread.
  private static var isFirstThread: Bool { ThreadLabel.current.number == Int(getpid()) }
}
