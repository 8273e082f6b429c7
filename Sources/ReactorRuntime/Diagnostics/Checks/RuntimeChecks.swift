#if DEBUG
  import ReactorCore
  import Synchronization

  /// What the checks of a debug build note about one reactor.
  @usableFromInline
  final class RuntimeChecks: Sendable {
    /// Set at the start.
    let expectedThread = OwnerCell<ExpectedThread?>(nil)
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
