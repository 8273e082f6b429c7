import ReactorCore
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// A request that gets no value gets one error, and never hangs.
@Suite struct AskErrorTests {
  /// Returns the name of the error that a request throws.
  private func failure(of request: () async throws(AskError) -> Int) async -> String? {
    do {
      _ = try await request()
      return nil
    } catch {
      return name(of: error)
    }
  }

  private func name(of error: AskError) -> String {
    switch error {
    case .dropped: "dropped"
    case .cancelled: "cancelled"
    case .timedOut: "timedOut"
    case .closed: "closed"
    case .refused(let reason): "refused \(reason)"
    case .failed: "failed"
    }
  }

  private func name(of result: Result<Int, AskError>) -> String {
    switch result {
    case .success(let value): "\(value)"
    case .failure(let error): name(of: error)
    }
  }

  /// Sends an action whose `mutate` does not return until `mayGoOn` opens, and returns when it is inside.
  private func keepBusy(_ reactor: Scripted) -> (mayGoOn: Gate, isDone: Gate) {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let isDone = Threads.start {
      reactor.send(
        Scripted.Action(mutate: {
          isInside.open()
          _ = mayGoOn.wait()
        }))
    }
    #expect(isInside.wait())
    return (mayGoOn, isDone)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reply that the reactor drops fails the request`(_ placement: PlacementUnderTest) async throws {
    let stage = try Stage(placement)
    let account = BankAccount(on: stage.placement)
    #expect(await failure { () throws(AskError) in try await account.ask { .ignore($0) } } == "dropped")
    let (log, isDone) = (Record<String>(), Gate())
    account.ask {
      .ignore($0)
    } completion: { result in
      log.append(self.name(of: result))
      isDone.open()
    }
    #expect(isDone.wait())
    #expect(log.elements == ["dropped"])
    #expect(stage.finish())
  }

  @Test func `a reply that is dropped in the middle of a turn is reported after it`() {
    let (reactor, log) = (Scripted(), Record<String>())
    let kept = Shared(OwnerIsolated<Reply<Int>?>(nil))
    reactor.ask { reply in
      Scripted.Action(mutate: { kept.value.value = reply })
    } completion: { result in
      log.append(self.name(of: result))
    }
    reactor.send(
      Scripted.Action(mutate: {
        kept.value.value = nil
        log.append("mutate")
      }))
    #expect(log.elements == ["mutate", "dropped"])
  }

  @Test func `a kept reply that is dropped ends the wait of a task`() async throws {
    let kept = Shared(OwnerIsolated<Reply<Int>?>(nil))
    let isKept = Gate()
    let task = Task {
      await failure { () throws(AskError) in
        try await Scripted().ask { reply in
          Scripted.Action(mutate: {
            kept.value.value = reply
            isKept.open()
          })
        }
      }
    }
    #expect(await eventually { isKept.isOpen })
    kept.value.value = nil
    #expect(await task.value == "dropped")
  }

  @Test func `a cancelled task stops waiting, and the reply has no effect`() async throws {
    let (account, isWaiting) = (BankAccount(), Record<Bool>())
    let task = Task {
      await failure { () throws(AskError) in
        try await account.ask { reply in
          isWaiting.append(true)
          return .waitFor(1, reply)
        }
      }
    }
    #expect(await eventually { !isWaiting.elements.isEmpty })
    task.cancel()
    #expect(await task.value == "cancelled")
    account.send(.deposit(1))
    #expect(account.withCurrentState { $0.waiting.isEmpty })
  }

  @Test func `a deadline ends both forms of a request`() async throws {
    let (account, log, isDone) = (BankAccount(), Record<String>(), Gate())
    let asking = await failure { () throws(AskError) in
      try await account.ask(before: .now + .milliseconds(5)) { .waitFor(1, $0) }
    }
    #expect(asking == "timedOut")
    account.ask(
      { .waitFor(1, $0) }, before: .now + .milliseconds(5),
      completion: { result in
        log.append(self.name(of: result))
        isDone.open()
      })
    #expect(isDone.wait())
    account.send(.deposit(1))
    #expect(log.elements == ["timedOut"])
  }

  @Test func `a deadline that does not come changes nothing`() async throws {
    let (account, log) = (BankAccount(), Record<String>())
    #expect(try await account.ask(before: .now + .seconds(1000)) { .balance($0) } == 0)
    account.ask(
      { .balance($0) }, before: .now + .seconds(1000), completion: { log.append(self.name(of: $0)) })
    #expect(log.elements == ["0"])
  }

  @Test func `a request that has its reply keeps nothing until its deadline`() async throws {
    let lifetimes = Lifetimes()
    let lender = Lender(lifetimes)
    for deadline in [ContinuousClock.now + .seconds(1000), nil] {
      _ = try await lender.ask(before: deadline) { $0 }
      #expect(Threads.yield { lifetimes.alive == 0 })
    }
    weak var receiver: AskingCallback<Int>?
    do {
      let callback = AskingCallback<Int> { _ in }
      callback.giveUp(at: .now + .seconds(1000))
      let reply = Reply<Int>()
      reply(1)
      callback.receive(reply)
      receiver = callback
    }
    #expect(Threads.yield { receiver == nil })
  }

  /// Replies with an object of which somebody else counts the instances: on another thread, when the asker waits. Only then is
  /// there a timer for the deadline.
  private final class Lender: Reactor {
    typealias Action = Reply<LifetimeTracked>
    typealias Mutation = Never

    let initialState = 0
    let runtime: Runtime<Reply<LifetimeTracked>, Never, Int>
    private let lifetimes: Lifetimes

    init(_ lifetimes: Lifetimes) {
      self.lifetimes = lifetimes
      runtime = Runtime(on: .caller)
    }

    func mutate(action: Reply<LifetimeTracked>) -> Observable<Never> {
      let lifetimes = lifetimes
      _ = Threads.start {
        _ = Threads.yield { action.phase.load(ordering: .acquiring) == ReplyPhase.waiting }
        action(lifetimes.track())
      }
      return .empty()
    }

    func reduce(into state: inout Int, mutation: Never) {}
  }

  @Test func `a closed reactor refuses both forms of a request`() async throws {
    let (account, log) = (BankAccount(), Record<String>())
    account.close()
    #expect(await failure { () throws(AskError) in try await account.ask { .balance($0) } } == "closed")
    account.ask {
      .balance($0)
    } completion: {
      log.append(self.name(of: $0))
    }
    #expect(log.elements == ["closed"])
  }

  @Test func `requests that a closed reactor discards fail`() async throws {
    let loop = try SteppedLoop()
    let account = BankAccount(on: loop.placement)
    let (log, isAsking) = (Record<String>(), Record<Bool>())
    account.ask {
      .balance($0)
    } completion: {
      log.append(self.name(of: $0))
    }
    let task = Task {
      await failure { () throws(AskError) in
        try await account.ask { reply in
          isAsking.append(true)
          return .balance(reply)
        }
      }
    }
    #expect(await eventually { !isAsking.elements.isEmpty && account.counters.waiting >= 2 })
    account.close(.discard)
    #expect(loop.run())
    #expect(await task.value == "closed")
    #expect(log.elements == ["closed"])
    loop.shutdown()
  }

  @Test func `requests that wait in a loop that is shut down, or in a reactor that goes away, end`() throws {
    let loop = try SteppedLoop()
    let log = Record<String>()
    do {
      let account = BankAccount(on: loop.placement)
      account.ask {
        .waitFor(9, $0)
      } completion: {
        log.append(self.name(of: $0))
      }
      loop.shutdown()
    }
    #expect(Threads.yield { log.elements == ["closed"] })
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a request that a busy reactor discards is told so`(_ placement: PlacementUnderTest)
    throws
  {
    let stage = try Stage(placement)
    let log = Record<String>()
    let reactor = Scripted(on: stage.placement)
    let (mayGoOn, isDone) = keepBusy(reactor)
    reactor.ask { reply in
      Scripted.Action(reply: reply)
    } completion: {
      log.append(self.name(of: $0))
    }
    reactor.close(.discard)
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(stage.finish { log.elements == ["closed"] })
  }

  @Test func `a request that an action's observer closes is told so`() {
    let (reactor, log) = (Scripted(), Record<String>())
    let subscription = reactor.action.subscribe(onNext: { [unowned reactor] _ in reactor.close(.discard) })
    reactor.ask { reply in
      Scripted.Action(reply: reply)
    } completion: {
      log.append(self.name(of: $0))
    }
    #expect(log.elements == ["closed"])
    subscription.dispose()
  }

  @Test func `a reply in a stream is told that its reactor was closed`() {
    let log = Record<String>()
    let reactor = Forgetful()
    reactor.ask {
      $0
    } completion: {
      log.append(self.name(of: $0))
    }
    #expect(log.elements == [])
    reactor.close()
    #expect(log.elements == ["closed"])
  }

  @Test func `a reply that a nested turn of another reactor drops while one discards is dropped`() {
    let log = Record<String>()
    let account = BankAccount()
    let reactor = Scripted(onFailure: { _ in
      account.ask {
        .ignore($0)
      } completion: {
        log.append(self.name(of: $0))
      }
    })
    let subscription = reactor.action.subscribe(onNext: { [unowned reactor] _ in reactor.close(.discard) })
    reactor.send(Scripted.Action())
    #expect(log.elements == ["dropped"])
    subscription.dispose()
  }

  @Test func `a full mailbox refuses the callback form as its policy says`() async throws {
    let log = Record<String>()
    let reactor = Scripted(capacity: 2, overflow: .fail)
    let (mayGoOn, isDone) = keepBusy(reactor)
    for value in 0..<3 {
      reactor.ask { reply in
        Scripted.Action(mutate: { reply(value) })
      } completion: {
        log.append(self.name(of: $0))
      }
    }
    #expect(log.elements == ["refused the mailbox is full"])
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(log.elements == ["refused the mailbox is full", "0", "1"])
  }

  @Test func `the callback form waits for room until its deadline`() {
    let log = Record<String>()
    let reactor = Scripted(capacity: 2)
    let (mayGoOn, isDone) = keepBusy(reactor)
    while (try? reactor.trySend(Scripted.Action(mutate: {}))) != nil {}
    let hasAsked = Threads.start {
      reactor.ask(
        { reply in Scripted.Action(mutate: { reply(1) }) }, before: .now + .milliseconds(20),
        completion: { log.append(self.name(of: $0)) })
    }
    // While the mailbox is still full.
    #expect(hasAsked.wait())
    #expect(Threads.yield { log.elements == ["timedOut"] }, "\(log.elements)")
    mayGoOn.open()
    #expect(isDone.wait())
  }

  @Test func `tasks that ask wait for room, blocking no thread`() async throws {
    let reactor = Scripted(capacity: 2, overflow: .fail)
    let (mayGoOn, isDone) = keepBusy(reactor)
    let tasks = (0..<64).map { value in
      Task { try await reactor.ask { reply in Scripted.Action(mutate: { reply(value) }) } }
    }
    for _ in 0..<100 { await Task.yield() }
    mayGoOn.open()
    for (value, task) in tasks.enumerated() { #expect(try await task.value == value) }
    #expect(isDone.wait())
  }
}

/// Its requests end when the streams that keep them do.
private final class Forgetful: Reactor {
  let initialState = 0
  let runtime = Runtime<Reply<Int>, Never, Int>()

  func mutate(action: Reply<Int>) -> Observable<Never> { .never() }
}
