// swift-format-ignore-file: OneCasePerLine

import ReactorRuntime
import TestSupport
import Testing

// The code of README.md. Scripts/lint checks that each of its lines is here.

final class Inventory: Reactor {
  enum Action: Sendable { case restock(Int), reserve(Int) }
  enum Mutation: Sendable { case change(by: Int), refuse }
  struct State: Sendable { var stock = 0, refused = 0 }

  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(on placement: Placement) {
    runtime = Runtime(on: placement, capacity: 1024, overflow: .block)
  }

  func mutate(action: Action) -> Observable<Mutation> {  // decides; may return a stream that emits later
    switch action {
    case .restock(let count): .just(.change(by: count))
    case .reserve(let count): .just(currentState.stock >= count ? .change(by: -count) : .refuse)
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .change(let count): state.stock += count
    case .refuse: state.refused += 1
    }
  }
}

@Suite struct ReadmeSnippets {
  @Test func `an inventory reserves what it has, and shows each state`() {
    let printed = Record<Int>()
    @Sendable func print(_ stock: Int) { printed.append(stock) }

    let inventory = Inventory(on: .caller)
    let bag = DisposeBag()
    inventory.state.map(\.stock).distinctUntilChanged()
      .subscribe(onNext: { stock in print(stock) })
      .disposed(by: bag)
    inventory.send(.restock(10))
    inventory.send(.reserve(3))
    print(inventory.currentState.stock)

    #expect(printed.elements == [0, 10, 7, 7])
  }

  @Test func `an inventory on a loop takes each form of send, and ends with its loop`() async throws {
    let loop = try Loop(name: "stock")
    let inventory = Inventory(on: .loop(loop))
    inventory.send(.restock(1))
    try inventory.trySend(.restock(1))
    try inventory.send(.restock(1), before: .now + .milliseconds(500))
    try await inventory.sendSuspending(.restock(1))

    try Shutdown.close([inventory.closer(), loop], before: .now + .seconds(10))
    #expect(inventory.currentState.stock == 4)
    #expect(inventory.isClosed)
  }
}
