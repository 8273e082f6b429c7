// swift-format-ignore-file: OneCasePerLine, OnlyOneTrailingClosureArgument

import ReactorRuntime
import TestSupport
import Testing

// The code of the article "Asking". Keep both in step.

private final class Account: Reactor {
  enum Action: Sendable {
    case deposit(Int)
    case withdraw(Int, Reply<Int>)
  }
  enum Mutation: Sendable { case add(Int) }
  struct Overdrawn: Error {}

  let initialState = 0
  let runtime = Runtime<Action, Mutation, Int>()

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .deposit(let amount):
      return .just(.add(amount))
    case .withdraw(let amount, let reply):
      let left = currentState - amount
      if left < 0 {
        reply.fail(Overdrawn())
        return .empty()
      }
      reply(left)
      return .just(.add(-amount))
    }
  }

  func reduce(into state: inout Int, mutation: Mutation) {
    switch mutation {
    case .add(let amount): state += amount
    }
  }
}

private final class Counters: Reactor {
  enum Action: Sendable { case increment(String, Reply<Int>) }
  typealias Mutation = Action

  let initialState: [String: Int] = [:]
  let runtime: Runtime<Action, Action, [String: Int]>

  init(on loop: Loop) { runtime = Runtime(on: .loop(loop)) }

  func reduce(into state: inout [String: Int], mutation: Action) {
    switch mutation {
    case .increment(let key, let reply):
      let value = state[key, default: 0] + 1
      state[key] = value
      reply(value)
    }
  }
}

private final class Auction: EndObserving {
  enum Action: Sendable {
    case waitForPrice(Reply<Int>)
    case sell(Int)
  }
  typealias Mutation = Action
  struct IsOver: Error {}

  let initialState: [Reply<Int>] = []
  let runtime = Runtime<Action, Action, [Reply<Int>]>()

  func reduce(into state: inout [Reply<Int>], mutation: Action) {
    switch mutation {
    case .waitForPrice(let reply):
      // Those whose askers have given up.
      state.removeAll { !$0.isAwaited }
      state.append(reply)
    case .sell(let price):
      for reply in state { reply(price) }
      state = []
    }
  }

  func willEnd(_ state: borrowing [Reply<Int>]) {
    for index in state.indices { state[index].fail(IsOver()) }
  }
}

private final class File: Sendable {
  let lines = Record<String>()
  func append(_ number: Int) { lines.append("\(number)") }
  func flush() { lines.append("flush") }
}

private final class LoggedSum: TurnObserving {
  typealias Action = Int
  let initialState = 0
  let runtime = Runtime<Int, Int, Int>()
  let file = File()

  func reduce(into state: inout Int, mutation: Int) {
    state += mutation
    file.append(mutation)
  }

  func turnEnded(_ state: borrowing Int) { file.flush() }
}

private final class Connection: Sendable {
  let written = Record<Int?>()
  func write(_ result: Result<Int, AskError>) { written.append(try? result.get()) }
}

@Suite struct AskingSnippets {
  @Test func `an account replies to a task and to a closure`() async throws {
    let (account, connection) = (Account(), Connection())
    account.send(.deposit(10))
    let left = try await account.ask { reply in .withdraw(5, reply) }
    #expect(left == 5)
    for _ in 0..<2 {
      account.ask({ .withdraw(5, $0) }, before: .now + .seconds(1000)) { result in
        connection.write(result)
      }
    }
    #expect(connection.written.elements == [0, nil])
    #expect(account.currentState == 0)
  }

  @Test func `reduce reads, changes and replies`() async throws {
    let loop = try Loop()
    let counters = Counters(on: loop)
    #expect(try await counters.ask { .increment("a", $0) } == 1)
    #expect(try await counters.ask { .increment("a", $0) } == 2)
    loop.shutdown()
  }

  @Test func `an auction that ends fails those that wait`() {
    let (auction, connection) = (Auction(), Connection())
    for _ in 0..<2 {
      auction.ask {
        .waitForPrice($0)
      } completion: { result in
        connection.write(result)
      }
    }
    auction.send(.sell(7))
    auction.ask {
      .waitForPrice($0)
    } completion: { result in
      connection.write(result)
    }
    auction.close()
    #expect(connection.written.elements == [7, 7, nil])
  }

  @Test func `an auction does not keep the replies of those that have given up`() async {
    let auction = Auction()
    for _ in 0..<10 {
      _ = try? await auction.ask(before: .now + .milliseconds(1)) { reply in .waitForPrice(reply) }
    }
    #expect(auction.currentState.count == 1)
  }

  @Test func `the end of a turn flushes`() {
    let ledger = LoggedSum()
    ledger.send(1)
    ledger.send(2)
    #expect(ledger.file.lines.elements == ["1", "flush", "2", "flush"])
  }
}
