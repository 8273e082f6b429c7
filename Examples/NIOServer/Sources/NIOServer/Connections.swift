import NIOConcurrencyHelpers
import NIOCore

/// The connections that are open, for the end of the server. Any thread.
final class Connections: Sendable {
  private struct Open {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isEnding = false
  }

  private let open = NIOLockedValueBox(Open())

  func add(_ channel: any Channel) {
    let isEnding = open.withLockedValue { open in
      open.channels[ObjectIdentifier(channel)] = channel
      return open.isEnding
    }
    channel.closeFuture.whenComplete { _ in
      self.open.withLockedValue { $0.channels[ObjectIdentifier(channel)] = nil }
    }
    if isEnding { Self.end(channel) }
  }

  /// Lets each client have the answers of what was received from it, and closes the connections that have not ended after that time.
  func end(within time: TimeAmount) async {
    let deadline = NIODeadline.now() + time
    var channels = open.withLockedValue { open in
      open.isEnding = true
      return Array(open.channels.values)
    }
    for channel in channels { Self.end(channel) }
    while !channels.isEmpty {
      for channel in channels {
        let timeout = channel.eventLoop.scheduleTask(deadline: deadline) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in timeout.cancel() }
      }
      for channel in channels { try? await channel.closeFuture.get() }
      // One that was accepted just before the listener was closed may have come meanwhile.
      channels = open.withLockedValue { Array($0.channels.values) }
    }
  }

  private static func end(_ channel: any Channel) {
    channel.pipeline.fireUserInboundEventTriggered(Connection.ServerEnds())
  }
}
