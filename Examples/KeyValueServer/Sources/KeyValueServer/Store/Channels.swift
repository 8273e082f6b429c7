import ReactorRuntime

/// The connections that have subscribed to the channels of one shard. They end with the process, so no journal has them.
struct Channels: Sendable {
  /// By channel, and by the numbers of the connections.
  private var subscribers: [Key: [Int: Subscriber]] = [:]

  func subscribers(of channel: Key) -> [Int: Subscriber] { subscribers[channel] ?? [:] }

  mutating func subscribe(_ client: Int, _ subscriber: Subscriber, to channel: Key) {
    subscribers[channel, default: [:]][client] = subscriber
  }

  /// Forgets that a client has subscribed to channels.
  mutating func unsubscribe(_ client: Int, from channels: [Key]) {
    for channel in channels {
      subscribers[channel]?[client] = nil
      if subscribers[channel]?.isEmpty == true { subscribers[channel] = nil }
    }
  }
}

/// A connection that has subscribed to a channel.
struct Subscriber: Sendable {
  let home: Worker
  let connection: LoopBound<Connection>
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
