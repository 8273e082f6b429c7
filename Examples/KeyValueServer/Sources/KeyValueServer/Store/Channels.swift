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
