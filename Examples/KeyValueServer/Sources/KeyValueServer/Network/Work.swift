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
  /// What the commands publish.
  private(set) var messages: [(receiver: Subscriber, channel: Key, bytes: [UInt8])] = []

  init(for connection: LoopBound<Connection>, of home: Worker) {
    self.connection = connection
    self.home = home
  }

  /// Runs the commands. The shard.
  func run(on keyspace: inout Keyspace) {
    // Copied out of the object once: two references.
    let (request, commands) = (request, commands)
    var (output, ends) = (self.output, self.ends)
    (self.output, self.ends) = ([], [])
    for command in commands {
      run(Invocation(request: request, command: command), on: &keyspace, &output)
      ends.append(output.count)
    }
    (self.output, self.ends) = (output, ends)
  }

  private func run(_ call: Invocation, on keyspace: inout Keyspace, _ output: inout [UInt8]) {
    switch call.code {
    case .dbsize: output.appendInteger(keyspace.entries.count)
    case .flushall:
      keyspace.removeAll()
      output.appendOK()
    case .publish:
      let receivers = keyspace.subscribers[call.key(1)] ?? [:]
      for receiver in receivers.values { messages.append((receiver, call.key(1), call.bytes(2))) }
      output.appendInteger(receivers.count)
    case .subscribeOne:
      let subscriber = Subscriber(home: home, connection: connection)
      keyspace.subscribers[call.key(0), default: [:]][call.request.client] = subscriber
    case .unsubscribeOne: keyspace.unsubscribe(call.request.client, from: [call.key(0)])
    default: keyspace.execute(call, &output)
    }
  }

  /// Takes the messages out.
  func takeMessages() -> [(receiver: Subscriber, channel: Key, bytes: [UInt8])] {
    if messages.isEmpty { return [] }
    defer { messages = [] }
    return messages
  }

  /// Makes it empty for the next batch, and keeps its memory unless it is much.
  func reset() {
    request = Request()
    commands.removeAll(keepingCapacity: true)
    output.removeAll(keepingCapacity: output.count <= 16 << 10)
    ends.removeAll(keepingCapacity: true)
  }
}

/// A connection that has subscribed to a channel.
struct Subscriber: Sendable {
  let home: Worker
  let connection: LoopBound<Connection>
}

extension Keyspace {
  /// Forgets that a client has subscribed to channels.
  mutating func unsubscribe(_ client: Int, from channels: [Key]) {
    for channel in channels {
      subscribers[channel]?[client] = nil
      if subscribers[channel]?.isEmpty == true { subscribers[channel] = nil }
    }
  }
}

/// Hands finished works back to their connections, and messages to their receivers: at once to those on this loop, and with one
/// job to those on each other loop.
struct Deliveries {
  private enum Item: Sendable {
    case work(Work)
    case message(Subscriber, Key, [UInt8])

    func deliver() {
      switch self {
      case .work(let work): work.connection.value.complete(work)
      case .message(let receiver, let channel, let bytes):
        receiver.connection.value.push(bytes, from: channel)
      }
    }
  }

  private var others: [(home: Worker, items: [Item])] = []

  mutating func add(_ work: Work) {
    for (receiver, channel, bytes) in work.takeMessages() {
      add(.message(receiver, channel, bytes), to: receiver.home)
    }
    add(.work(work), to: work.home)
  }

  private mutating func add(_ item: Item, to home: Worker) {
    if home.loop.isCurrent { return item.deliver() }
    if let index = others.firstIndex(where: { $0.home === home }) {
      others[index].items.append(item)
    } else {
      others.append((home, [item]))
    }
  }

  /// Sends the jobs. Refused by a loop that has ended: then its connections are gone, too.
  consuming func send() {
    for (home, items) in others { try? home.loop.execute { for item in items { item.deliver() } } }
  }
}
