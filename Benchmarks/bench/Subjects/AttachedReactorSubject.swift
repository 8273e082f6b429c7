import ReactorCore
import ReactorRuntime

/// A reactor that stores no runtime, so that each send looks it up; sent to as ReactorKit's users do, or
/// directly.
final class AttachedReactorSubject<Way: SendingWay>: FanInSubject {
  private final class AttachedReactor: Reactor {
    typealias Action = Item
    let initialState: Tally

    init(_ inspector: Inspector?) { initialState = Tally(inspector: inspector) }

    func reduce(into state: inout Tally, mutation: Item) { state.reduce(mutation) }
  }

  private let reactor: AttachedReactor

  init(_ setup: SubjectSetup) { reactor = AttachedReactor(setup.inspector) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { Way.send(Item(producer: UInt64(producer), value: value), to: reactor) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return reactor.currentState.totals
  }
}

/// A reactor with a stored runtime, sent to by its `action`.
final class ActionReactorSubject: FanInSubject {
  private let reactor: TallyReactor

  init(_ setup: SubjectSetup) { reactor = TallyReactor(on: .caller, setup) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { BySubject.send(Item(producer: UInt64(producer), value: value), to: reactor) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return reactor.currentState.totals
  }
}

/// How an action is sent.
protocol SendingWay: Sendable {
  static func send<R: Reactor>(_ action: R.Action, to reactor: R)
}

enum Directly: SendingWay {
  @inline(__always)
  static func send<R: Reactor>(_ action: R.Action, to reactor: R) { reactor.send(action) }
}

/// As in ReactorKit.
enum BySubject: SendingWay {
  @inline(__always)
  static func send<R: Reactor>(_ action: R.Action, to reactor: R) { reactor.action.onNext(action) }
}
