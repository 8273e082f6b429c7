import Glibc
import NIOCore
import NIOPosix
import ReactorRuntime

/// The smallest server of the shape of KeyValueServer, over swift-nio: connections and shards live on its event loops.
///
///     NIOServer [port] [threads]
@main
struct NIOServer {
  static func main() async throws {
    // The first one still ends `run`. Another one does not end the process while clients get their answers.
    signal(SIGTERM, SIG_IGN)
    let arguments = CommandLine.arguments.dropFirst().map { Int($0) }
    guard arguments.count <= 2, !arguments.contains(nil) else {
      return print("usage: NIOServer [port] [threads]")
    }
    let port = arguments.first.flatMap { $0 } ?? 6379
    let group = MultiThreadedEventLoopGroup(
      numberOfThreads: arguments.count > 1 ? max(1, arguments[1] ?? 1) : System.coreCount)
    let eventLoops = Array(group.makeIterator())
    let shards = eventLoops.map { Shard(on: $0) }
    let connections = Connections()
    let listener = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // A client may end what it sends and wait for its replies: `Connection` closes the channel.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            ByteToMessageHandler(CommandDecoder(), maximumBufferSize: 64 << 20), Connection(shards))
          connections.add(channel)
        }
      }
      .bind(host: "127.0.0.1", port: port).get()
    print("listening on 127.0.0.1:\(listener.localAddress?.port ?? port), \(eventLoops.count) threads")
    let ending = try await MainLoop.run()
    print("ending: \(ending)")
    try await listener.close()
    // First the clients get the answers of what was received from them. Before the event loops end the loops: what was accepted is
    // still processed there.
    await connections.end(within: .seconds(5))
    try Shutdown.close(eventLoops.map { Loop.hosted(by: $0) }, before: .now + .seconds(5))
    try await group.shutdownGracefully()
  }
}
