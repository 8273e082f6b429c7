import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

private enum Trace {
  @TaskLocal static var id = 0
}

/// Notes the task-local of each action where it is processed.
private final class Traced: Reactor {
  enum Action: Sendable {
    case note(Int)
    case hold(Gate, Gate)
    case ask(Reply<Int>)
    /// Starts a task, which replies.
    case askLater(Reply<Int>)
  }
  typealias Mutation = Int
  struct State: Sendable {
    var mutated: [Int] = []
    var reduced: [Int] = []
  }

  let initialState = State()
  let runtime: Runtime<Action, Int, State>
  let seen = Record<Int>()

  init(
    on placement: Placement, capacity: Int = 64, overflow: OverflowPolicy = .block,
    lost: Record<String> = Record()
  ) {
    runtime = Runtime(
      on: placement, capacity: capacity, overflow: overflow,
      onFailure: { lost.append("\($0.cause) \($0.action ?? "-")") })
  }

  func mutate(action: Action) -> Observable<Int> {
    seen.append(Trace.id)
    switch action {
    case .note: break
    case .hold(let entered, let mayLeave):
      entered.open()
      _ = mayLeave.wait()
    case .ask(let reply): reply(Trace.id)
    case .askLater(let reply): Task { reply(Trace.id) }
    }
    return .just(Trace.id)
  }

  func reduce(into state: inout State, mutation: Int) {
    state.mutated.append(mutation)
    state.reduced.append(Trace.id)
  }
}

@Suite struct CapturingTests {
  @Test func `a captured value is there in mutate and in reduce on a loop`() throws {
    let loop = try Loop()
    let reactor = Traced(on: .loop(loop))
    Trace.$id.withValue(7) {
      reactor.send(.note(1), capturing: Trace.$id)
      reactor.send(.note(2))
    }
    Trace.$id.withValue(8) { reactor.send(.note(3), capturing: Trace.$id) }
    loop.shutdown()
    #expect(reactor.currentState.mutated == [7, 0, 8])
    #expect(reactor.currentState.reduced == [7, 0, 8])
  }

  @Test func `a captured value is there after a send that may suspend`() async throws {
    let loop = try Loop()
    let reactor = Traced(on: .loop(loop))
    try await Trace.$id.withValue(7) {
      try await reactor.sendSuspending(.note(1), capturing: Trace.$id)
      try await reactor.sendSuspending(.note(2))
    }
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(reactor.currentState.mutated == [7, 0])
  }

  @Test func `a captured value is there if another thread processes the action`() {
    let reactor = Traced(on: .caller)
    let (entered, mayLeave) = (Gate(), Gate())
    let isDone = Threads.start { Trace.$id.withValue(1) { reactor.send(.hold(entered, mayLeave)) } }
    #expect(entered.wait())
    Trace.$id.withValue(2) {
      reactor.send(.note(1), capturing: Trace.$id)
      // Without a capture it has the value of the thread that processes it.
      reactor.send(.note(2))
    }
    mayLeave.open()
    #expect(isDone.wait())
    #expect(reactor.currentState.mutated == [1, 2, 1])
  }

  @Test func `an idle reactor finds the value of the sending thread`() {
    let reactor = Traced(on: .caller)
    Trace.$id.withValue(3) {
      // The first action takes another path.
      for _ in 0..<2 { reactor.send(.note(1), capturing: Trace.$id) }
    }
    #expect(reactor.currentState.mutated == [3, 3])
  }

  @Test func `a request captures the value and so do tasks that it starts`() async throws {
    let loop = try Loop()
    let reactor = Traced(on: .loop(loop))
    let answers = try await Trace.$id.withValue(5) {
      [
        try await reactor.ask(capturing: Trace.$id) { .ask($0) },
        try await reactor.ask(capturing: Trace.$id) { .askLater($0) },
        try await reactor.ask { .ask($0) },
      ]
    }
    #expect(answers == [5, 5, 0])
    loop.shutdown()
    await #expect(throws: AskError.self) { try await reactor.ask(capturing: Trace.$id) { .ask($0) } as Int }
  }

  @Test func `captured actions keep their place among the others`() throws {
    let loop = try Loop()
    let entered = Gate()
    let mayLeave = Gate()
    let reactor = Traced(on: .loop(loop))
    reactor.send(.hold(entered, mayLeave))
    #expect(entered.wait())
    for index in 1...30 {
      Trace.$id.withValue(index) {
        if index % 2 == 0 {
          reactor.send(.note(index))
        } else {
          reactor.send(.note(index), capturing: Trace.$id)
        }
      }
    }
    mayLeave.open()
    loop.shutdown()
    #expect(reactor.seen.elements == [0] + (1...30).map { $0 % 2 == 0 ? 0 : $0 })
  }

  @Test(arguments: [OverflowPolicy.block, .fail, .dropNewest, .dropOldest])
  func `a full mailbox treats a captured action as its policy says`(_ policy: OverflowPolicy) throws {
    let loop = try Loop()
    let lost = Record<String>()
    let reactor = Traced(on: .loop(loop), capacity: 8, overflow: policy, lost: lost)
    let (entered, mayLeave) = (Gate(), Gate())
    reactor.send(.hold(entered, mayLeave))
    #expect(entered.wait())
    let isSent = Threads.start {
      // The action that is being processed has a slot, too.
      for index in 1...8 { Trace.$id.withValue(index) { reactor.send(.note(index), capturing: Trace.$id) } }
    }
    if policy == .block {
      #expect(Threads.yield { reactor.counters.waiting == 8 })
      #expect(!isSent.isOpen)
    } else {
      #expect(isSent.wait())
    }
    #expect(throws: SendError.full) { try reactor.trySend(.note(9), capturing: Trace.$id) }
    mayLeave.open()
    #expect(isSent.wait())
    loop.shutdown()
    let seen = Array(reactor.seen.elements.dropFirst())
    switch policy {
    case .block:
      #expect(seen == Array(1...8))
      #expect(lost.elements == [])
    case .fail:
      #expect(seen == Array(1...7))
      #expect(lost.elements == ["actionNotDelivered(\(SendError.full)) note(8)"])
    case .dropNewest:
      #expect(seen == Array(1...7))
      #expect(lost.elements == ["actionNotDelivered(\(SendError.dropped)) note(8)"])
      #expect(reactor.counters.dropped == 1)
    case .dropOldest:
      // The last one lost its value, not its place.
      #expect(seen == Array(1...7) + [0])
      #expect(lost.elements == [])
    }
  }

  @Test func `of captured actions the oldest is dropped, too`() throws {
    let loop = try Loop()
    let lost = Record<String>()
    let reactor = Traced(on: .loop(loop), capacity: 8, overflow: .dropOldest, lost: lost)
    let (entered, mayLeave) = (Gate(), Gate())
    reactor.send(.hold(entered, mayLeave))
    #expect(entered.wait())
    for index in 1...20 { Trace.$id.withValue(index) { reactor.send(.note(index), capturing: Trace.$id) } }
    mayLeave.open()
    loop.shutdown()
    // Those beside the ring are reported when they are dropped, the others when the reactor gets to them.
    let reported = Array(8...12) + Array(1...7)
    #expect(lost.elements == reported.map { "actionNotDelivered(\(SendError.dropped)) note(\($0))" })
    #expect(reactor.seen.elements.count == 1 + 8)
    #expect(reactor.counters.dropped == 12)
  }

  @Test func `a captured action that is discarded is reported`() {
    let lost = Record<String>()
    let reactor = Traced(on: .caller, lost: lost)
    let (entered, mayLeave) = (Gate(), Gate())
    let isDone = Threads.start { reactor.send(.hold(entered, mayLeave)) }
    #expect(entered.wait())
    reactor.send(.note(1), capturing: Trace.$id)
    reactor.close(.discard)
    reactor.send(.note(2), capturing: Trace.$id)
    mayLeave.open()
    #expect(isDone.wait())
    #expect(
      lost.elements.sorted() == [1, 2].map { "actionNotDelivered(\(SendError.closed)) note(\($0))" })
  }

  @Test func `a captured action that waits does not keep its reactor alive`() {
    let lifetimes = Lifetimes()
    let failures = Record<SendError>()
    let holder = Box<Script?>(nil)
    holder.value = Script(
      on: .caller, failures: failures,
      mutate: { [tracked = lifetimes.track()] script, _ in
        // Waits for the running action, during which the last reference goes away.
        script.send(2, capturing: Trace.$id)
        holder.value = nil
        return .just(tracked.value)
      })
    let action = holder.value!.action
    action.onNext(1)
    #expect(lifetimes.alive == 0)
    #expect(failures.elements == [.closed])
  }
}
