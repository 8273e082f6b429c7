import CBenchmarkLimits
import Dispatch
import ReactorRuntime

/// A reactor whose actions are requests: each is replied to with the number of items so far.
private final class AskedReactor: Reactor {
  struct Action: Sendable {
    let item: Item
    let reply: Reply<UInt64>
  }
  typealias Mutation = Action

  let initialState: Tally
  let runtime: Runtime<Action, Action, Tally>

  init(on placement: Placement, _ setup: SubjectSetup) {
    initialState = Tally(inspector: setup.inspector)
    runtime = Runtime(on: placement, capacity: setup.capacity)
  }

  func reduce(into state: inout Tally, mutation: Action) {
    state.reduce(mutation.item)
    mutation.reply(UInt64(state.count))
  }
}

/// One task per producer that asks for each item, and waits for the reply. As in ``ActorBaseline``, a call of a C function
/// follows each item.
final class AskSubject<Host: AskHost>: FanInSubject {
  static var floats: Bool { true }
  static var chunk: Int { 16_384 }

  private let reactor: AskedReactor
  private let loop: Loop?

  init(_ setup: SubjectSetup) throws {
    loop = try Host.makeLoop(setup)
    reactor = AskedReactor(on: loop.map { .loop($0) } ?? .caller, setup)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    let (reactor, patience) = (reactor, Host.patience)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      for value in values {
        let item = Item(producer: UInt64(producer), value: value)
        do {
          if let patience {
            _ = try await reactor.ask(before: .now + patience) { AskedReactor.Action(item: item, reply: $0) }
          } else {
            _ = try await reactor.ask { AskedReactor.Action(item: item, reply: $0) }
          }
        } catch {
          // The item is missing in the totals, which are verified.
        }
        bl_opaque()
      }
      done.signal()
    }
    done.wait()
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    defer { loop?.shutdown() }
    return reactor.currentState.totals
  }
}

/// Where the reactor of an ``AskSubject`` runs, and how long those that ask wait.
protocol AskHost {
  /// Returns its loop, on the CPU of the consumer; nil for `.caller`.
  static func makeLoop(_ setup: SubjectSetup) throws -> Loop?

  /// How long a request waits for its reply; nil for ever.
  static var patience: Duration? { get }
}

extension AskHost {
  static var patience: Duration? { nil }
}

enum AsksCaller: AskHost {
  static func makeLoop(_ setup: SubjectSetup) -> Loop? { nil }
}

enum AsksLoop: AskHost {
  static func makeLoop(_ setup: SubjectSetup) throws -> Loop? { try setup.makeLoop() }
}

/// Each request has a deadline, which it does not reach.
enum AsksLoopBeforeDeadline: AskHost {
  static func makeLoop(_ setup: SubjectSetup) throws -> Loop? { try setup.makeLoop() }

  static var patience: Duration? { .seconds(1) }
}
