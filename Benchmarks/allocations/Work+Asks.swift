import Dispatch
import ReactorCore
import ReactorRuntime
import TestSupport

/// Requests to an idle reactor.
extension Work {
  /// A task asks: the reply is the only object.
  static func askedByTask() -> Run {
    let reactor = Asked()
    return { actions in
      let (sum, isDone) = (Shared(OwnerIsolated(0)), DispatchSemaphore(value: 0))
      Task.detached {
        for _ in 0..<actions { sum.value.value += (try? await reactor.ask { Asked.Action(reply: $0) }) ?? 0 }
        isDone.signal()
      }
      isDone.wait()
      if sum.value.value != actions { throw Loss() }
    }
  }

  /// With a completion: the reply, and what holds the completion.
  static func askedWithCompletion() -> Run {
    let reactor = Asked()
    return { actions in
      let sum = Shared(OwnerIsolated(0))
      let completion: @Sendable (Result<Int, AskError>) -> Void = { sum.value.value += (try? $0.get()) ?? 0 }
      for _ in 0..<actions { reactor.ask({ Asked.Action(reply: $0) }, completion: completion) }
      if sum.value.value != actions { throw Loss() }
    }
  }
}

private final class Asked: Reactor {
  struct Action: Sendable { let reply: Reply<Int> }
  typealias Mutation = Action

  let initialState = 0
  let runtime = Runtime<Action, Action, Int>()

  func reduce(into state: inout Int, mutation: Action) {
    state += 1
    mutation.reply(1)
  }
}
