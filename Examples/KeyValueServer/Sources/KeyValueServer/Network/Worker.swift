import Glibc
import ReactorRuntime
import Synchronization

/// A loop with its connections.
final class Worker: Sendable {
  let loop: Loop
  /// What only the loop's thread uses.
  private struct Local {
    var connections: [Int: LoopBound<Connection>] = [:]
    /// What is received goes here first, so that an idle connection has no memory of its own.
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
  }
  private let local: LoopBound<Local>
  private let clients = Atomic(0)
  private let commands = Atomic(0)
  /// What other threads have handed over.
  private let handed = Mutex<[Deliveries.Item]>([])

  init(on loop: Loop) {
    self.loop = loop
    local = LoopBound(Local(), to: loop)
  }

  // MARK: Any thread

  var wasClientCount: Int { clients.load(ordering: .relaxed) }
  var wasCommandCount: Int { commands.load(ordering: .relaxed) }

  /// Takes a client over.
  func adopt(_ descriptor: Int32, id: Int, of server: Server) {
    clients.add(1, ordering: .relaxed)
    do {
      try loop.execute { [self] in begin(descriptor, id: id, of: server) }
    } catch {
      clients.subtract(1, ordering: .relaxed)
      close(descriptor)
    }
  }

  /// Gives something to a connection of this loop, together with what else is handed over before the loop takes it: one job for
  /// all that one commit has made durable. If the loop has ended, so have its connections.
  func handOver(_ item: Deliveries.Item) {
    let isFirst = handed.withLock { items in
      items.append(item)
      return items.count == 1
    }
    guard isFirst else { return }
    try? loop.execute { [self] in
      let items = handed.withLock { items in
        defer { items = [] }
        return items
      }
      for item in items { item.deliver() }
    }
  }

  /// Lets each connection finish what it has received, and then ends it.
  func finishConnections() {
    try? loop.execute { [self] in
      for connection in local.value.connections.values { connection.value.finishAndClose() }
    }
  }

  // MARK: The loop

  private func begin(_ descriptor: Int32, id: Int, of server: Server) {
    let connection = LoopBound(Connection(descriptor, id: id, on: self, of: server), to: loop)
    local.value.connections[id] = connection
    do {
      try connection.value.start(as: connection)
    } catch {
      Log.warning("client \(id): \(error)")
      connection.value.close()
    }
  }

  func receive(from descriptor: Int32, into input: inout [UInt8]) -> Socket.Received {
    Socket.receive(from: descriptor, by: &local.value.buffer, into: &input)
  }

  func forget(_ connection: Connection) {
    local.value.connections[connection.id] = nil
    clients.subtract(1, ordering: .relaxed)
  }

  // Not an addition in one step: only this thread counts.
  func countCommand() { commands.store(commands.load(ordering: .relaxed) + 1, ordering: .relaxed) }

  /// The time in milliseconds since 1970.
  func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
