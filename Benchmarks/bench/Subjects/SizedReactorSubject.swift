import ReactorCore
import ReactorRuntime

/// A reactor on the sender's thread, which shows its state after each action.
final class SizedReactorSubject<State: SizedState>: FanInSubject {
  private final class SizedReactor: Reactor {
    let initialState = State()
    let runtime = Runtime<Item, Item, State>(on: .caller)

    func reduce(into state: inout State, mutation: Item) { state.reduce(mutation) }
  }

  private let reactor = SizedReactor()

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reactor.send(Item(producer: 0, value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals { try reactor.currentState.totals.agreed() }
}

/// The same, with a chunk's actions in few turns: each action but the last sends the next.
final class LongTurnsSubject<State: SizedState>: FanInSubject {
  private final class ChainReactor: Reactor {
    /// A value, and the end of those that are still to come.
    struct Link: Sendable {
      var value: UInt64
      var end: UInt64
    }

    let initialState = State()
    let runtime = Runtime<Link, Item, State>(on: .caller)

    func mutate(action: Link) -> Observable<Item> {
      if action.value + 1 < action.end { send(Link(value: action.value + 1, end: action.end)) }
      return .just(Item(producer: 0, value: action.value))
    }

    func reduce(into state: inout State, mutation: Item) { state.reduce(mutation) }
  }

  private let reactor = ChainReactor()

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    reactor.send(ChainReactor.Link(value: values.lowerBound, end: values.upperBound))
  }

  func awaitTotals(_ quota: Quota) throws -> Totals { try reactor.currentState.totals.agreed() }
}
