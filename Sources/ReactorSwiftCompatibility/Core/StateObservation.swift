import ReactorCore
import ReactorRuntime
import Synchronization

/// Whether a core's state is observed, and by what. Any thread.
final class StateObservation: Sendable {
  /// One subscription to the state. There may be no room for the observer, which it is told in the meantime or later.
  final class Attempt: Sendable {
    // Relaxed: under the lock.
    fileprivate let hasFailed = Atomic(false)
  }

  fileprivate struct State: Sendable {
    var subscription: (any Disposable)?
    /// What `subscription` is the result of.
    var attempt: Attempt?
    /// How many registrations were announced and have not arrived.
    var expected = 0
  }

  private let state = SystemMutex(State())

  var isRunning: Bool { state.withLock { $0.subscription != nil } }

  /// Notes that a registration is on its way.
  func expect() { state.withLock { $0.expected += 1 } }

  /// Notes that a registration has arrived, or never will.
  fileprivate func expectOneLess() { state.withLock { $0.expected -= 1 } }

  /// Keeps a subscription, unless there is one or this one has failed.
  ///
  /// - Returns: The subscription, if it is not kept: the caller disposes of it.
  func keep(_ subscription: any Disposable, of attempt: Attempt) -> (any Disposable)? {
    state.withLock { state in
      if state.subscription != nil || attempt.hasFailed.load(ordering: .relaxed) { return subscription }
      (state.subscription, state.attempt) = (subscription, attempt)
      return nil
    }
  }

  /// Forgets a subscription that has failed, so that the state can be observed again.
  func forget(_ attempt: Attempt) {
    // Released after the lock.
    let subscription = state.withLock { state in
      attempt.hasFailed.store(true, ordering: .relaxed)
      return state.attempt === attempt ? state.takeSubscription() : nil
    }
    subscription?.dispose()
  }

  /// Returns the subscription for the caller to dispose of, and forgets it, unless a registration is on its way.
  func endUnlessExpected() -> (any Disposable)? {
    state.withLock { $0.expected == 0 ? $0.takeSubscription() : nil }
  }
}

extension StateObservation.State {
  fileprivate mutating func takeSubscription() -> (any Disposable)? {
    attempt = nil
    return subscription.take()
  }
}

/// That a registration is on its way to its core. It counts until that has arrived, or until the last reference to this is gone:
/// then the action was not delivered.
@usableFromInline
final class Announcement: Sendable {
  private let observation: StateObservation
  private let counts = Atomic(true)

  init(to observation: StateObservation) {
    self.observation = observation
    observation.expect()
  }

  deinit { withdraw() }

  /// Any thread.
  func withdraw() {
    // Relaxed: it only makes one call of several.
    if counts.exchange(false, ordering: .relaxed) { observation.expectOneLess() }
  }
}
