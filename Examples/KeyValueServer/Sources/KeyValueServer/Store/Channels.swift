import ReactorRuntime

/// The connections that have subscribed to the channels of one shard. They end with the process, so no journal has them.
struct Channels: Sendable {
  /// By channel: one element for each loop that has subscribers.
  private var audiences: [Key: [Audience]] = [:]

  func audiences(of channel: Key) -> [Audience] { audiences[channel] ?? [] }

  mutating func subscribe(
    _ client: Int, _ connection: LoopBound<Connection>, of home: Worker, to channel: Key
  ) {
    if let index = audiences[channel]?.firstIndex(where: { $0.home === home }) {
      audiences[channel]![index].connections[client] = connection
    } else {
      audiences[channel, default: []].append(Audience(home: home, connections: [client: connection]))
    }
  }

  /// Forgets that a client has subscribed to channels.
  mutating func unsubscribe(_ client: Int, from channels: [Key]) {
    for channel in channels {
      guard let index = audiences[channel]?.firstIndex(where: { $0.connections[client] != nil }) else {
        continue
      }
      audiences[channel]![index].connections[client] = nil
      if audiences[channel]![index].connections.isEmpty { audiences[channel]!.remove(at: index) }
      if audiences[channel]!.isEmpty { audiences[channel] = nil }
    }
  }
}

/// The connections of one loop that have subscribed to a channel, by their numbers. A message that is under way shares them with the
/// shard: it takes no memory for each receiver.
struct Audience: Sendable {
  let home: Worker
  var connections: [Int: LoopBound<Connection>]
}

/// What was published on a channel. All receivers share the bytes.
struct Message: Sendable {
  let channel: Key
  /// All that a receiver gets but the first byte, which depends on the version of its protocol.
  private let rest: [UInt8]

  init(_ text: [UInt8], on channel: Key) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64 + channel.bytes.count + text.count)
    bytes.appendDecimal(3)
    bytes.appendEnd()
    bytes.appendBulk("message")
    bytes.appendBulk(channel.bytes)
    bytes.appendBulk(text)
    (self.channel, rest) = (channel, bytes)
  }

  /// How many bytes a receiver gets.
  var size: Int { 1 + rest.count }

  func append(to output: inout [UInt8], _ version: Int) {
    output.appendPushMark(version)
    output.append(contentsOf: rest)
  }
}
