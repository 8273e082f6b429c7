import ReactorCore
import ReactorRuntime

/// The measurements with streams on the way of an action.
extension Work {
  /// One observer of `state`, or several.
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

  /// Through ``Reactor/action``, as ReactorKit's users send.
  static func byAction() -> Run {
    let reactor = Summing(on: .caller)
    return { actions in
      let before = reactor.currentState.count
      for _ in 0..<actions { reactor.action.onNext(1) }
      if reactor.currentState.count - before != actions { throw Loss() }
    }
  }

  /// Through three transforms.
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

/// What an observer has seen; the reactor's owner writes it.
final class Seen: Sendable {
  let states = OwnerIsolated(0)
}

/// A reactor all of whose transforms do something.
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

private final class Attached: Reactor {
  typealias Action = Int
  typealias State = Int
  let initialState = 0

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
