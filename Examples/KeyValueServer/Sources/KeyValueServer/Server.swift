import Dispatch
import Glibc
import ReactorJournal
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
  /// Nil if the keys are in memory only.
  private let data: DataFolder?
  let started = ContinuousClock.now
  /// What CONFIG RESETSTAT has found: INFO counts from there on. The metrics count from the start on, as a counter does not go back.
  let statisticsBefore = Mutex((commands: 0, expired: 0))
  private let clients = Atomic(0)
  /// Set by ``start()``.
  private let listener = Mutex<LoopBound<Listener>?>(nil)
  private let boundPort = Atomic<UInt16>(0)
  private let refusals = OccasionalLog()
  /// About clients that are disconnected because of what they have sent, or do not read.
  let inputWarnings = OccasionalLog()
  let outputWarnings = OccasionalLog()

  init(_ options: Options) throws {
    self.options = options
    parser = Parser(longestArgument: options.argumentLimit)
    // The server bounds what it gives to its loops itself: new clients, one job for each loop's deliveries, and timers. None of
    // them may be refused.
    let group = try LoopGroup(
      name: "kv", count: options.threads, waiting: .parking(after: .microseconds(options.patience)),
      jobCapacity: .max)
    self.group = group
    workers = group.loops.map { Worker(on: $0, messageLimit: options.outputLimit / 4) }
    if let folder = options.data {
      let data = try DataFolder(folder, options)
      let durable = (0..<data.shardCount).map { index in
        data.makeShard(
          index, on: group.loops[index % group.count],
          options.acknowledgement == .durable ? .durable : .latest, waiting: options.waitingLimit)
      }
      try data.recover(durable)
      self.data = data
      shards = durable
      return
    }
    data = nil
    shards = (0..<options.shardCount).map { index -> any Shard in
      switch options.kind {
      case .reactor: ReactorShard(on: .caller, waiting: options.waitingLimit)
      case .loop: ReactorShard(on: .loop(group.loops[index % group.count]), waiting: options.waitingLimit)
      case .mutex: MutexShard()
      case .actor: ActorShard(on: group.loops[index % group.count])
      }
    }
  }

  // MARK: Running

  func start() throws {
    FileLimit.raise(for: options.mostClients, threads: options.threads)
    let opened = try Listener.open(options.host, port: options.port, on: workers[0].loop) { [self] client in
      admit(client)
    }
    listener.withLock { $0 = opened.listener }
    boundPort.store(opened.port, ordering: .relaxed)
    if let wanted = options.metrics {
      let port = try MetricsPort.open(wanted, of: self)
      Log.info("metrics on \(options.host):\(port)")
    }
    for (index, worker) in workers.enumerated() {
      let own = stride(from: index, to: shards.count, by: workers.count).map { shards[$0] }
      if !own.isEmpty { Expirer(of: own, on: worker).start() }
    }
    if let data { compact(data) }
    Log.info(
      "listening on \(options.host):\(port), \(options.threads) threads, \(shards.count) \(options.shardName) shards"
    )
  }

  /// The port that clients connect to.
  var port: UInt16 { boundPort.load(ordering: .relaxed) }

  private func admit(_ descriptor: Int32) {
    let connected = clientCount
    if connected >= options.mostClients {
      _ = Socket.send(Array("-ERR max number of clients reached\r\n".utf8), from: 0, to: descriptor)
      close(descriptor)
      return refusals.warning("refused a client: \(connected) are connected")
    }
    let id = clients.add(1, ordering: .relaxed).newValue
    workers[id % workers.count].adopt(descriptor, id: id, of: self)
  }

  /// Looks ten times a second whether the journal has much that is no longer needed, and then removes it.
  private func compact(_ data: DataFolder) {
    _ = try? workers[0].loop.schedule(after: .milliseconds(100)) { [weak self] in
      guard let self else { return }
      data.compactIfGrown(shards)
      compact(data)
    }
  }

  /// Lets the connections finish their batches, sends the replies, and ends the threads.
  ///
  /// - Returns: Whether everything has ended. A client that does not read is no reason why not.
  func stop() -> Bool {
    let begin = ContinuousClock.now
    let deadline = begin + .seconds(options.grace)
    // The last fifth is for the shards and the journal, whatever the clients do.
    let connectionDeadline = begin + .milliseconds(800 * options.grace)
    stopAccepting(before: connectionDeadline)
    for worker in workers { worker.finishConnections() }
    while clientCount > 0, .now < connectionDeadline { usleep(1000) }
    if clientCount > 0 { Log.warning("\(clientCount) clients have not read their replies") }
    do {
      // The shards need their loops to end.
      data?.journal.beginClosing()
      try group.shutdown(before: deadline)
      if let data { try Shutdown.close([data.journal], before: deadline) }
      Log.info("ended")
      return true
    } catch {
      Log.error("\(error)")
      return false
    }
  }

  /// Waits until nobody is accepted any more. Only then is every client known to its worker.
  private func stopAccepting(before deadline: ContinuousClock.Instant) {
    guard let listener = listener.withLock({ $0 }) else { return }
    let isClosed = DispatchSemaphore(value: 0)
    try? workers[0].loop.execute {
      listener.value.close()
      isClosed.signal()
    }
    let left = max(0, ContinuousClock.now.duration(to: deadline) / .milliseconds(1))
    _ = isClosed.wait(timeout: .now() + .milliseconds(Int(left)))
  }

  // MARK: Keys

  func shard(of key: Key) -> Int {
    let bytes = key.bytes.array
    return shard(of: bytes, Request.Slice(start: 0, count: bytes.count))
  }

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
    // A write to what nobody reads any more, such as the log, returns an error. It does not end the server.
    signal(SIGPIPE, SIG_IGN)
    let options: Options
    do {
      options = try Options(CommandLine.arguments.dropFirst())
    } catch {
      Log.error("not understood: \(error.argument)")
      print(Options.help)
      exit(2)
    }
    let server = orExit { try Server(options) }
    // On the main loop, which catches the signals before it runs anything. So a signal that comes once the server listens ends it
    // as it should.
    try MainLoop.execute { orExit { try server.start() } }
    // For a signal that comes just before `run` catches it, and for a second one afterwards, which does not end the process while
    // clients get their replies; SIGINT does. A handler may call this: the main loop was made above, so it only writes to a
    // descriptor. Not earlier: while the keys are read, which can take long, a signal ends the process, as nothing is lost then.
    signal(SIGTERM) { _ in MainLoop.stop() }
    let ending = try MainLoop.run()
    Log.info("ending: \(ending)")
    if !server.stop() { exit(1) }
  }

  /// Ends the process if there is an error, such as a port or a folder that another process uses.
  private static func orExit<Result>(_ body: () throws -> Result) -> Result {
    do { return try body() } catch {
      Log.error("\(error)")
      exit(1)
    }
  }
}
