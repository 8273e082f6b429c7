import ReactorRuntime

/// What one shard has to do for one batch of a connection: all commands of the batch that are for its keys, in their order.
///
/// A shard runs a whole work in one step, so other clients see all of it or nothing.
final class Work: @unchecked Sendable {
  // Unchecked: it is handed over and never shared. The connection's loop fills it and submits it; the shard runs it, and hands
  // it back through the connection's loop. Each hand-over is a send or a job.
  let home: Worker
  let connection: LoopBound<Connection>
  var request = Request()
  var commands: [Command] = []
  /// The replies, and where each of them ends.
  var output: [UInt8] = []
  var ends: [Int] = []
  /// What the commands publish: one element for each PUBLISH, however many receivers it has.
  private var messages: [(audiences: [Audience], message: Message)] = []
  /// The loops that have received some of it.
  private(set) var targets: [Worker] = []

  private let replyLimit: ReplyLimit

  init(for connection: LoopBound<Connection>, of home: Worker, countingTowards limit: ReplyLimit) {
    self.connection = connection
    self.home = home
    replyLimit = limit
  }

  /// Whether a command changes keys.
  var writes: Bool { commands.contains { $0.code.writes } }

  /// How many bytes the commands that change keys have, without their names.
  var writtenSize: Int {
    commands.lazy.filter(\.code.writes).reduce(0) { size, command in
      command.recorded.reduce(size) { $0 + request.arguments[$1].count }
    }
  }

  /// How many arguments those commands have, and names.
  var writtenCount: Int {
    commands.lazy.filter(\.code.writes).reduce(0) { $0 + $1.recorded.count + 1 }
  }

  /// Runs the commands. The shard.
  func run(on keyspace: inout Keyspace, _ channels: inout Channels) {
    request.now = keyspace.advance(to: request.now)
    runEach(&channels) { call, output in keyspace.execute(call, &output) }
  }

  /// Runs the commands, none of which ``writes``. The shard.
  func read(from keyspace: borrowing Keyspace, _ channels: inout Channels) {
    runEach(&channels) { call, output in keyspace.read(call, &output) }
  }

  /// Replies with the same error to each command that ``CommandCode/writes``, and runs the others. The shard.
  func refuseWrites(_ error: String, on keyspace: borrowing Keyspace, _ channels: inout Channels) {
    runEach(&channels) { call, output in
      if call.code.writes { output.appendError(error) } else { keyspace.read(call, &output) }
    }
  }

  @inline(__always)
  private func runEach(_ channels: inout Channels, _ execute: (Invocation, inout [UInt8]) -> Void) {
    // Copied out of the object once: two references.
    let (request, commands) = (request, commands)
    var (output, ends) = (self.output, self.ends)
    (self.output, self.ends) = ([], [])
    var counted = output.count
    for command in commands {
      let call = Invocation(request: request, command: command)
      if command.code.isForChannels { use(&channels, call, &output) } else { execute(call, &output) }
      replyLimit.count(&output, since: &counted)
      ends.append(output.count)
    }
    replyLimit.count(&output, since: &counted, step: 1)
    (self.output, self.ends) = (output, ends)
  }

  private func use(_ channels: inout Channels, _ call: Invocation, _ output: inout [UInt8]) {
    switch call.code {
    case .publish:
      let audiences = channels.audiences(of: call.key(1))
      if !audiences.isEmpty { messages.append((audiences, Message(call.bytes(2), on: call.key(1)))) }
      output.appendInteger(audiences.reduce(0) { $0 + $1.connections.count })
    case .subscribeOne: channels.subscribe(call.request.client, connection, of: home, to: call.key(0))
    default: channels.unsubscribe(call.request.client, from: [call.key(0)])
    }
  }

  /// Takes the messages out.
  func takeMessages() -> [(audiences: [Audience], message: Message)] {
    if messages.isEmpty { return [] }
    defer { messages = [] }
    return messages
  }

  func addTarget(_ worker: Worker) {
    if !targets.contains(where: { $0 === worker }) { targets.append(worker) }
  }

  /// Makes it empty for the next batch, and keeps its memory unless it is much.
  func reset() {
    request = Request()
    commands.removeAllKeepingLittle()
    output.removeAllKeepingLittle()
    ends.removeAllKeepingLittle()
    targets.removeAll(keepingCapacity: true)
  }
}
