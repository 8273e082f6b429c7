import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// The placements, each with each snapshot policy.
let askedPlaces: [(PlacementUnderTest, SnapshotPolicy)] = PlacementUnderTest.allCases.flatMap { placement in
  [(placement, .copied), (placement, .onDemand), (placement, .replayed)]
}

/// Requests as a user makes them.
@Suite struct AskTests {
  @Test(arguments: askedPlaces)
  func `a bank account replies to requests`(_ placement: PlacementUnderTest, _ snapshots: SnapshotPolicy)
    async throws
  {
    let stage = try Stage(placement)
    let account = BankAccount(on: stage.placement, snapshots: snapshots)
    account.send(.deposit(10))
    #expect(try await account.ask { .withdraw(4, $0) } == 6)
    #expect(account.withCurrentState { $0.balance } == 6)
    #expect(try await account.ask { .balance($0) } == 6)
    await #expect {
      try await account.ask { .withdraw(7, $0) }
    } throws: { error in
      guard case .failed(let reason) = error as? AskError else { return false }
      return reason as? BankAccount.Overdrawn == BankAccount.Overdrawn(missing: 1)
    }
    #expect(stage.finish())
  }

  @Test(arguments: askedPlaces)
  func `a store reads, changes and replies in one step`(
    _ placement: PlacementUnderTest, _ snapshots: SnapshotPolicy
  ) async throws {
    let stage = try Stage(placement)
    let store = NumberStore(on: stage.placement, snapshots: snapshots)
    #expect(try await store.ask { .get("a", $0) } == nil)
    try await store.ask { .set("a", 41, $0) }
    #expect(store.withCurrentState { $0["a"] } == 41)
    let values = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<8 {
        group.addTask {
          var values: [Int] = []
          for _ in 0..<50 { values.append(try await store.ask { .increment("a", $0) }) }
          return values
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    // No increment is lost, and each task was told of its own.
    #expect(values.sorted() == Array(42..<442))
    #expect(try await store.ask { .get("a", $0) } == 441)
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reply can be kept in the state and used in a later turn`(_ placement: PlacementUnderTest)
    async throws
  {
    let stage = try Stage(placement)
    let account = BankAccount(on: stage.placement)
    let waiting = Task { try await account.ask { .waitFor(5, $0) } }
    #expect(await eventually { account.withCurrentState { !$0.waiting.isEmpty } })
    account.send(.deposit(3))
    account.send(.deposit(4))
    #expect(try await waiting.value == 7)
    #expect(account.withCurrentState { $0.balance } == 7)
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reply can be used by a stream, outside of turns`(_ placement: PlacementUnderTest) async throws {
    let stage = try Stage(placement)
    let reactor = Scripted(on: stage.placement)
    let kept = Record<Reply<Int>>()
    let asking = Task {
      try await reactor.ask { reply in Scripted.Action(mutate: { kept.append(reply) }) }
    }
    try #require(await eventually { !kept.elements.isEmpty })
    #expect(Threads.run(1) { _ in kept.elements[0](9) })
    #expect(try await asking.value == 9)
    #expect(stage.finish())
  }

  @Test func `the first action of all can be a request`() async throws {
    #expect(try await BankAccount().ask { .balance($0) } == 0)
    let result = Record<Int?>()
    BankAccount().ask {
      .balance($0)
    } completion: {
      result.append(try? $0.get())
    }
    #expect(result.elements == [0])
  }

  @Test func `a request can be sent through the subject of actions`() {
    let (account, result) = (BankAccount(), Record<Int?>())
    account.ask {
      .withdraw(0, $0)
    } completion: {
      result.append(try? $0.get())
    }
    let forwarding = Scripted()
    forwarding.ask { reply in
      Scripted.Action(mutate: { account.action.onNext(.balance(reply)) })
    } completion: {
      result.append(try? $0.get())
    }
    #expect(result.elements == [0, 0])
  }

  @Test func `only the first use of a reply counts`() async throws {
    let uses = Record<Bool>()
    let kept = Record<Reply<Int>>()
    let value = try await Scripted().ask { (reply: Reply<Int>) in
      kept.append(reply)
      return Scripted.Action(
        mutate: { uses.append(reply(1)) },
        reduce: {
          uses.append(reply(2))
          uses.append(reply.fail(RxError.timeout))
        })
    }
    #expect(value == 1)
    #expect(kept.elements[0](3) == false)
    #expect(uses.elements == [true, false, false])
  }

  @Test func `a request that no turn is needed for suspends no task`() async throws {
    // The main actor has one thread; nothing else runs there while this does not suspend.
    let didRun = Record<Bool>()
    let task = Task { @MainActor in
      let other = Task { @MainActor in didRun.append(true) }
      let account = BankAccount()
      for _ in 0..<100 { _ = try await account.ask { .balance($0) } }
      #expect(didRun.elements.isEmpty)
      await other.value
    }
    try await task.value
    #expect(didRun.elements == [true])
  }
}
