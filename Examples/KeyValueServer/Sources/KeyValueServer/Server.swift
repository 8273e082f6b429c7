import Glibc
import ReactorRuntime
import Synchronization

/// The loops, the shards and the listener.
final class Server: Sendable {
  static let redisVersion = "7.0.15"

  let options: Options
  let parser: Parser
  let group: LoopGroup
  let workers: [Worker]
  let shards: [any Shard]
  let started = ContinuousClock.now
  private let clients = Atomic(0)

  init(_ options: Options) throws {
    self.options = options
    parser = Parser(longestArgument: options.argumentLimit)
    let group = try LoopGroup(
      name: "kv", count: options.threads, waiting: .parking(after: .microseconds(options.patience)))
    self.group = group
    workers = group.loops.map(Worker.init)
    shards = (0..<options.shardCount).map { index -> any Shard in
      switch options.kind {
      case .reactor: ReactorShard(on: group.loops[index % group.count])
      case .mutex: MutexShard()
      case .actor: ActorShard()
      }
    }
  }

  // MARK: Running

  func start() throws {
    let listener = try Socket.listen(on: options.host, port: options.port)
    try workers[0].loop.watch(listener, for: .readable) { [self] _, _ in
      // A few at a time: those that are connected already have their turn, too.
      for _ in 0..<64 {
        guard let client = Socket.accept(from: listener) else { return }
        admit(client)
      }
    }
    if let port = options.metrics { try MetricsPort.open(port, of: self) }
    expireKeys()
    Log.info(
      "listening on \(options.host):\(options.port), \(options.threads) threads, \(shards.count) \(options.kind) shards"
    )
  }

  private func admit(_ descriptor: Int32) {
    let connected = workers.reduce(0) { $0 + $1.wasClientCount }
    if connected >= options.mostClients {
      _ = Socket.send(Array("-ERR max number of clients reached\r\n".utf8), from: 0, to: descriptor)
      close(descriptor)
      return Log.warning("refused a client: \(connected) are connected")
    }
    let id = clients.add(1, ordering: .relaxed).newValue
    workers[id % workers.count].adopt(descriptor, id: id, of: self)
  }

  /// Removes keys whose time has come although nobody asks for them, ten times a second.
  private func expireKeys() {
    let worker = workers[0]
    _ = try? worker.loop.schedule(after: .milliseconds(100)) { [weak self] in
      guard let self else { return }
      let now = worker.now()
      for shard in shards { shard.update { _ = $0.expireSome(at: now) } }
      expireKeys()
    }
  }

  /// Finishes what was received, sends the replies, and ends the threads.
  func stop() {
    for worker in workers { worker.finishConnections() }
    let deadline = ContinuousClock.now + .seconds(5)
    while workers.contains(where: { $0.wasClientCount > 0 }), .now < deadline { usleep(1000) }
    do {
      try group.shutdown(before: deadline)
      Log.info("ended")
    } catch {
      Log.error("\(error)")
    }
  }

  // MARK: Keys

  func shard(of key: Key) -> Int { shard(of: key.bytes, Request.Slice(start: 0, count: key.bytes.count)) }

  /// The shard of a key: by the part in braces if there is one, so that a client can put keys together.
  func shard(of bytes: [UInt8], _ slice: Request.Slice) -> Int {
    if shards.count == 1 { return 0 }
    var (start, end) = (slice.start, slice.start + slice.count)
    if let open = bytes[start..<end].firstIndex(of: UInt8(ascii: "{")),
      let close = bytes[(open + 1)..<end].firstIndex(of: UInt8(ascii: "}")), close > open + 1
    {
      (start, end) = (open + 1, close)
    }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for index in start..<end { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
    return Int((hash ^ (hash >> 32)).multipliedFullWidth(by: UInt64(shards.count)).high)
  }
}

@main
struct KeyValueServer {
  static func main() throws {
    let options: Options
    do {
      options = try Options(CommandLine.arguments.dropFirst())
    } catch {
      Log.error("not understood: \(error.argument)")
      print(Options.help)
      exit(2)
    }
    let server = try Server(options)
    try server.start()
    let ending = try MainLoop.run()
    Log.info("ending: \(ending)")
    server.stop()
  }
}
