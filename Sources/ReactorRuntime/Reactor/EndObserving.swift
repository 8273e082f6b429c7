import ReactorCore

/// A reactor that does something when it ends: fails the requests whose replies its state keeps.
///
/// ```swift
/// final class Auction: EndObserving {
///   func willEnd(_ state: borrowing State) {
///     for index in state.waiting.indices { state.waiting[index].fail(AuctionIsOver()) }
///   }
///   …
/// }
/// ```
///
/// Without it, a reply that is kept in the state stays there when the reactor ends, since the state can still be read. It is a
/// protocol of its own for the reasons of ``TurnObserving``. A reactor of such a type is referenced weakly from its start on, so
/// each retain and release of it is slower.
public protocol EndObserving: Reactor {
  /// Called once, at the end of a reactor that was closed: when everything that it had accepted was processed, or reported with
  /// ``Closing/discard``, and before its streams are disposed of, unless a transform has ended. Also if it was never used: then
  /// with its first state. Not if it goes away without ``Reactor/close(_:)``, or while its loop, which was closed before, has not
  /// ended.
  ///
  /// The owner calls it. Replies that are used here leave before the reactor has ended for those that wait for that. What is sent
  /// to this reactor here is refused. It should not block.
  ///
  /// - Parameter state: The last state.
  func willEnd(_ state: borrowing State)
}

extension EndObserving {
  /// Made when the reactor starts. It does not retain the reactor, which may be gone when the runtime ends.
  func makeEndHook() -> @Sendable () -> Void {
    let weakly = WeakReactor(self, part: runtime)
    return { weakly.use { runtime, reactor in runtime.state.withValue { reactor.willEnd($0) } } }
  }
}

extension Runtime {
  /// Makes the runtime call the reactor, which is ``EndObserving``, at its end. The owner, at the start.
  func bindEndObserver(of reactor: any AnyObject & Sendable) {
    guard let observing = reactor as? any EndObserving else { return }
    ensureExtras().endHook = observing.makeEndHook()
  }
}
