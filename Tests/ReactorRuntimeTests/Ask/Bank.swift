import ReactorRuntime
import TestSupport

/// A bank account, as a user would write it: some actions are requests.
final class BankAccount: Reactor {
  enum Action: Sendable {
    case deposit(Int)
    case withdraw(Int, Reply<Int>)
    case balance(Reply<Int>)
    /// Replies once the balance has reached that amount.
    case waitFor(Int, Reply<Int>)
    /// Never replies.
    case ignore(Reply<Int>)
  }
  enum Mutation: Sendable {
    case add(Int)
    case keep(Int, Reply<Int>)
  }
  struct State: Sendable {
    var balance = 0
    var waiting: [Waiting] = []
  }
  struct Waiting: Sendable {
    let amount: Int
    let reply: Reply<Int>
  }
  struct Overdrawn: Error, Equatable { let missing: Int }

  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(on placement: Placement = .caller, snapshots: SnapshotPolicy = .automatic) {
    runtime = Runtime(on: placement, snapshots: snapshots)
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .deposit(let amount):
      return .just(.add(amount))
    case .withdraw(let amount, let reply):
      let left = currentBalance - amount
      if left < 0 {
        reply.fail(Overdrawn(missing: -left))
        return .empty()
      }
      // The asker is resumed when the new balance can be read, although the reply is used here already.
      reply(left)
      return .just(.add(-amount))
    case .balance(let reply):
      reply(currentBalance)
      return .empty()
    case .waitFor(let amount, let reply):
      return .just(.keep(amount, reply))
    case .ignore:
      return .empty()
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .add(let amount):
      state.balance += amount
    case .keep(let amount, let reply):
      state.waiting.append(Waiting(amount: amount, reply: reply))
    }
    let balance = state.balance
    state.waiting.removeAll { waiting in
      if waiting.amount > balance { return false }
      waiting.reply(balance)
      return true
    }
  }

  private var currentBalance: Int { withCurrentState { $0.balance } }
}

/// A table of numbers that is asked as Redis is. `increment` reads, changes and replies in one step, in `reduce`.
final class NumberStore: Reactor {
  enum Action: Sendable {
    case get(String, Reply<Int?>)
    case set(String, Int, Reply<Void>)
    case increment(String, Reply<Int>)
  }
  typealias Mutation = Action
  typealias State = [String: Int]

  let initialState: State = [:]
  let runtime: Runtime<Action, Action, State>

  init(
    on placement: Placement = .caller, snapshots: SnapshotPolicy = .automatic, capacity: Int = 4096,
    overflow: OverflowPolicy = .block
  ) {
    runtime = Runtime(on: placement, snapshots: snapshots, capacity: capacity, overflow: overflow)
  }

  func reduce(into state: inout State, mutation: Action) {
    switch mutation {
    case .get(let key, let reply):
      reply(state[key])
    case .set(let key, let value, let reply):
      state[key] = value
      reply()
    case .increment(let key, let reply):
      let value = state[key, default: 0] + 1
      state[key] = value
      reply(value)
    }
  }
}

/// What the action says is done in `mutate`, then in `reduce`; the state counts.
final class Scripted: Reactor {
  struct Action: Sendable {
    var mutate: @Sendable () -> Void = {}
    var reduce: @Sendable () -> Void = {}
    var reply: Reply<Int>?
  }
  typealias Mutation = Action

  let initialState = 0
  let runtime: Runtime<Action, Action, Int>

  init(
    on placement: Placement = .caller, snapshots: SnapshotPolicy = .automatic, capacity: Int = 64,
    overflow: OverflowPolicy = .block, reentrantCapacity: Int = 1024,
    onFailure: @escaping @Sendable (Failure) -> Void = { _ in }
  ) {
    runtime = Runtime(
      on: placement, snapshots: snapshots, capacity: capacity, overflow: overflow,
      reentrantCapacity: reentrantCapacity, onFailure: onFailure)
  }

  func mutate(action: Action) -> Observable<Action> {
    action.mutate()
    return .just(action)
  }

  func reduce(into state: inout Int, mutation: Action) {
    state += 1
    mutation.reduce()
  }
}
