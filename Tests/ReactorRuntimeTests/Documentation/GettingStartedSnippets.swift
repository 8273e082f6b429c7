// swift-format-ignore-file: OneCasePerLine

import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

// The code of the article "Getting started". Keep both in step.

private final class Counter: Reactor {
  enum Action: Sendable { case increase, decrease }
  enum Mutation: Sendable { case add(Int), setLoading(Bool) }
  struct State: Sendable { var value = 0, isLoading = false }

  let initialState = State()
  let runtime = Runtime<Action, Mutation, State>(on: .caller)

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .increase:
      .just(.add(1))
    case .decrease:
      .concat(
        .just(.setLoading(true)),
        .just(.add(-1)).delay(.milliseconds(500)),
        .just(.setLoading(false)))
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .add(let amount): state.value += amount
    case .setLoading(let flag): state.isLoading = flag
    }
  }
}

private final class CounterWithoutRuntime: ReactorKitReactor {
  typealias Action = Int
  let initialState = 0

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}

private final class OrderBook: Reactor {
  enum Action: Sendable { case place(Int) }
  struct State: Sendable { var orders: [Int] = [] }

  let initialState = State()
  let runtime: Runtime<Action, Action, State>

  init(on loop: Loop, reportingTo report: @escaping @Sendable (Failure) -> Void) {
    runtime = Runtime(on: .loop(loop), capacity: 16_384, onFailure: report)
  }

  func reduce(into state: inout State, mutation: Action) {
    switch mutation {
    case .place(let order): state.orders.append(order)
    }
  }
}

@Suite struct GettingStartedSnippets {
  @Test func `the counter counts and emits its states`() {
    let seen = Record<Int>()
    let bag = DisposeBag()

    let counter = Counter()
    counter.state.map(\.value).distinctUntilChanged()
      .subscribe(onNext: { value in seen.append(value) })
      .disposed(by: bag)
    counter.action.onNext(.increase)
    #expect(counter.currentState.value == 1)
    #expect(seen.elements == [0, 1])
  }

  @Test func `a delayed mutation is reduced later`() {
    let scheduler = TestScheduler(initialClock: 0, resolution: 0.1)
    let counter = Counter()
    withVirtualTime(scheduler) { counter.action.onNext(.decrease) }
    #expect(counter.currentState.isLoading)
    #expect(counter.currentState.value == 0)
    scheduler.advanceBy(5)
    #expect(!counter.currentState.isLoading)
    #expect(counter.currentState.value == -1)
  }

  @Test func `the states can be read in a loop`() async {
    let counter = Counter()
    let reader = Task {
      var values: [Int] = []
      for await value in counter.state.map(\.value).values {
        values.append(value)
        if value < 3 { counter.action.onNext(.increase) } else { break }
      }
      return values
    }
    #expect(await reader.value == [0, 1, 2, 3])
  }

  @Test func `the runtime need not be stored`() {
    let counter = CounterWithoutRuntime()
    counter.action.onNext(2)
    counter.send(3)
    #expect(counter.currentState == 5)
  }

  @Test func `a reactor on a loop processes what was sent and reports what it refuses`() throws {
    let failures = Record<Failure>()
    let loop = try Loop(name: "orders", waiting: .parking)
    let book = OrderBook(on: loop) { failure in failures.append(failure) }
    for order in 1...3 { book.send(.place(order)) }
    loop.shutdown()  // processes what was sent, then ends the thread
    #expect(book.currentState.orders == [1, 2, 3])

    book.send(.place(4))
    #expect(failures.elements.map(\.sendError) == [.closed])
    #expect(throws: SendError.closed) { try book.trySend(.place(5)) }
  }
}
