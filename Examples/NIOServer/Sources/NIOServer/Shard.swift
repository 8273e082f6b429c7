import NIOCore
import ReactorRuntime

/// A part of the keys: a reactor on an event loop, which also has connections.
final class Shard: Reactor {
  struct Action: Sendable {
    let command: Command
    let reply: Reply<Answer>
  }
  typealias Mutation = Action
  typealias State = [ByteBuffer: ByteBuffer]

  let initialState: State = [:]
  let runtime: Runtime<Action, Action, State>

  init(on eventLoop: any EventLoop) {
    // A request of an event loop does not wait: what finds no room is kept beside the mailbox, up to `reentrantCapacity`. The connections
    // limit it, each of which waits for 1,024 answers at most. If a limit here refused a command, later ones of its client would run.
    runtime = Runtime(on: .eventLoop(eventLoop), reentrantCapacity: .max)
  }

  /// Reads, changes and replies in one step. The reply leaves when the state can be read.
  func reduce(into state: inout State, mutation: Action) {
    mutation.reply(Self.run(mutation.command, &state))
  }

  private static func run(_ command: Command, _ state: inout State) -> Answer {
    switch command {
    case .ping: return .text("PONG")
    case .get(let key): return .value(state[key])
    case .set(let key, let value):
      // Copied: a slice would keep everything alive that was received with it.
      state[copy(key)] = copy(value)
      return .text("OK")
    case .delete(let key): return .integer(state.removeValue(forKey: key) == nil ? 0 : 1)
    case .increment(let key):
      let text = state[key].map { String(buffer: $0) } ?? "0"
      // Each number has one form, as in Redis: without a sign "+", and without zeros before it.
      guard let number = Int(text), String(number) == text else {
        return .error("value is not an integer or out of range")
      }
      let (next, overflows) = number.addingReportingOverflow(1)
      if overflows { return .error("increment or decrement would overflow") }
      state[copy(key)] = ByteBuffer(string: "\(next)")
      return .integer(next)
    case .invalid(let text): return .error(text)
    }
  }

  private static func copy(_ buffer: ByteBuffer) -> ByteBuffer { ByteBuffer(bytes: buffer.readableBytesView) }
}
