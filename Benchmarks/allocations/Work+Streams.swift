import ReactorCore
import ReactorRuntime

/// The measurements of actions that pass through streams.
extension Work {
  /// With one or several observers of `state`.
  static func observed(
    _ subscribe: @escaping @Sendable (Summing, Seen) -> [any Disposable]
  ) -> Run {
    let reactor = Summing(on: .caller)
    let seen = Seen()
    let subscriptions = subscribe(reactor, seen)
    return { actions in
      let before = seen.states.value
      for _ in 0..<actions { reactor.send(1) }
      if seen.states.value - before != actions * subscriptions.count { throw Loss() }
    }
  }

  /// Sent by ``Reactor/action``, as in ReactorKit.
  static func byAction() -> Run {
    let reactor = Summing(on: .caller)
    return { actions in
      let before = reactor.currentState.count
      for _ in 0..<actions { reactor.action.onNext(1) }
      if reactor.currentState.count - before != actions { throw Loss() }
    }
  }

  /// With three transforms.
  static func transformed() -> Run {
    let reactor = Transforming()
    return { actions in
      let before = reactor.currentState
      for _ in 0..<actions { reactor.send(1) }
      if reactor.currentState - before != actions { throw Loss() }
    }
  }

  /// A reactor that stores no runtime.
  static func attached() -> Run {
    let reactor = Attached()
    return { actions in
      let before = reactor.currentState
      for _ in 0..<actions { reactor.send(1) }
      if reactor.currentState - before != actions { throw Loss() }
    }
  }
}

/// Counts the states that an observer got. The reactor's owner writes it.
final class Seen: Sendable {
  let states = OwnerIsolated(0)
}

/// A reactor that overrides all transforms.
private final class Transforming: Reactor {
  typealias Action = Int
  typealias State = Int
  let initialState = 0
  let runtime = Runtime<Int, Int, Int>(on: .caller)

  func transform(action: Observable<Int>) -> Observable<Int> { action.map { $0 } }
  func transform(mutation: Observable<Int>) -> Observable<Int> { mutation.map { $0 } }
  func transform(state: Observable<Int>) -> Observable<Int> { state.map { $0 } }
  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}

private final class Attached: ReactorKitReactor {
  typealias Action = Int
  typealias State = Int
  let initialState = 0

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
