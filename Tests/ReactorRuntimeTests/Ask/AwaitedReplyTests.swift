import TestSupport
import Testing

@testable import ReactorRuntime

/// A reactor that keeps replies can tell whether somebody still waits for them.
@Suite struct AwaitedReplyTests {
  @Test func `a reply is not awaited when the deadline of a task has passed`() async {
    let (desk, results) = (Desk(), Record<Int?>())
    desk.ask {
      .keep($0)
    } completion: {
      results.append(try? $0.get())
    }
    for _ in 0..<50 { _ = try? await desk.ask(before: .now + .milliseconds(1)) { .keep($0) } }
    #expect(desk.currentState.count == 51)
    desk.send(.sweep)
    #expect(desk.currentState.count == 1)
    desk.send(.reply(7))
    #expect(results.elements == [7])
  }

  @Test func `a reply is not awaited when the deadline of a completion has passed`() {
    let (desk, haveGivenUp, results) = (Desk(), Gate(count: 50), Record<Int?>())
    for _ in 0..<50 {
      desk.ask(
        { .keep($0) }, before: .now + .milliseconds(1), completion: { _ in haveGivenUp.open() })
    }
    desk.ask(
      { .keep($0) }, before: .now + .seconds(1000), completion: { results.append(try? $0.get()) })
    #expect(haveGivenUp.wait())
    desk.send(.sweep)
    #expect(desk.currentState.count == 1)
    desk.send(.reply(7))
    #expect(results.elements == [7])
  }

  @Test func `a reply is not awaited when its task was cancelled`() async throws {
    let desk = Desk()
    let tasks = (0..<10).map { _ in Task { try await desk.ask { .keep($0) } } }
    #expect(await eventually { desk.currentState.count(where: \.hasReceiver) == 10 })
    #expect(desk.currentState.map(\.isAwaited) == Array(repeating: true, count: 10))
    for task in tasks.dropFirst() {
      task.cancel()
      _ = await task.result
    }
    desk.send(.sweep)
    #expect(desk.currentState.count == 1)
    desk.send(.reply(7))
    #expect(try await tasks[0].value == 7)
  }

  @Test func `a reply that was used is not awaited`() {
    let desk = Desk()
    for _ in 0..<2 {
      desk.ask {
        .keep($0)
      } completion: { _ in
      }
    }
    let replies = desk.currentState
    #expect(replies.map(\.isAwaited) == [true, true])
    replies[0](1)
    replies[1].fail(AskError.closed)
    #expect(replies.map(\.isAwaited) == [false, false])
  }

  @Test func `a reply whose task does not wait yet is awaited until it is used`() async throws {
    let (reactor, seen) = (Scripted(), Record<Bool>())
    let value = try await reactor.ask { (reply: Reply<Int>) in
      seen.append(reply.isAwaited)
      return Scripted.Action(mutate: {
        // The asker runs this turn itself.
        seen.append(reply.isAwaited && !reply.hasReceiver)
        reply(7)
        seen.append(reply.isAwaited)
      })
    }
    #expect(value == 7)
    #expect(seen.elements == [true, true, false])
  }

  @Test func `a reply whose action was refused is not awaited`() {
    let (desk, kept) = (Desk(), Record<Reply<Int>>())
    desk.close()
    desk.ask { reply in
      kept.append(reply)
      return .keep(reply)
    } completion: { _ in
    }
    #expect(kept.elements.map(\.isAwaited) == [false])
  }

  @TaskLocal private static var local = 0

  @Test(arguments: [false, true])
  func `a reply of a task whose action was refused is not awaited`(captures: Bool) async {
    let (desk, kept) = (Desk(), Record<Reply<Int>>())
    desk.close()
    func keep(_ reply: Reply<Int>) -> Desk.Action {
      kept.append(reply)
      return .keep(reply)
    }
    await #expect(throws: AskError.self) {
      _ = captures ? try await desk.ask(capturing: Self.$local, keep) : try await desk.ask(keep)
    }
    #expect(kept.elements.map(\.isAwaited) == [false])
    // The first use counts all the same.
    #expect(kept.elements.map { [$0(1), $0(1)] } == [[true, false]])
  }

  @Test func `a reply of a task that found no room in time is not awaited`() async throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Busy(isInside, mayGoOn)
    let isDone = Threads.start { reactor.send(nil) }
    #expect(isInside.wait())
    try reactor.trySend(nil)
    let kept = Record<Reply<Int>>()
    await #expect(throws: AskError.self) {
      _ = try await reactor.ask(before: .now + .milliseconds(1)) { reply in
        kept.append(reply)
        return reply
      }
    }
    #expect(kept.elements.map(\.isAwaited) == [false])
    mayGoOn.open()
    #expect(isDone.wait())
  }
}

/// Waits in its first action, and has room for one.
private final class Busy: Reactor {
  let initialState = 0
  let runtime = Runtime<Reply<Int>?, Never, Int>(capacity: 1)
  private let (isInside, mayGoOn): (Gate, Gate)

  init(_ isInside: Gate, _ mayGoOn: Gate) { (self.isInside, self.mayGoOn) = (isInside, mayGoOn) }

  func mutate(action: Reply<Int>?) -> Observable<Never> {
    isInside.open()
    _ = mayGoOn.wait()
    return .empty()
  }
}

extension Reply {
  fileprivate var hasReceiver: Bool { phase.load(ordering: .acquiring) == ReplyPhase.waiting }
}

/// Keeps replies in its state.
private final class Desk: Reactor {
  enum Action: Sendable {
    case keep(Reply<Int>)
    case sweep
    case reply(Int)
  }
  typealias Mutation = Action

  let initialState: [Reply<Int>] = []
  let runtime = Runtime<Action, Action, [Reply<Int>]>()

  func reduce(into state: inout [Reply<Int>], mutation: Action) {
    switch mutation {
    case .keep(let reply):
      state.append(reply)
    case .sweep:
      state.removeAll { !$0.isAwaited }
    case .reply(let value):
      for reply in state { reply(value) }
      state = []
    }
  }
}
