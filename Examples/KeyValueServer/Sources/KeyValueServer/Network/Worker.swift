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
    /// What was taken out of `handed` and is still to be delivered, the last one first.
    var taken: [Deliveries.Item] = []
    /// The connections that have got messages and not sent them yet.
    var unflushed: [Connection] = []
    /// How many bytes were pushed to all connections since these were flushed last.
    var pushedSize = 0
  }
  private let local: LoopBound<Local>
  private let clients = Atomic(0)
  private let commands = Atomic(0)
  /// What was handed over and not taken yet.
  private struct Handed {
    var items: [Deliveries.Item] = []
    /// Whether a job will take it.
    var isScheduled = false
    /// The works that have published more than is under way at most.
    var delayed: [Work] = []
  }
  private let handed = Mutex(Handed())
  /// How many bytes the receivers get of the messages that were handed over and not delivered yet.
  private let underWay = Atomic(0)
  /// How many bytes may be under way before publishers have to wait.
  private let limit: Int
  /// How much one job delivers, in bytes: then the loop looks at its sockets. And how much is pushed before it is sent.
  private static let portion = 1 << 20

  init(on loop: Loop, messageLimit: Int) {
    self.loop = loop
    limit = messageLimit
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

  /// Gives something to connections of this loop, behind everything that was handed over before. One job takes what has come
  /// meanwhile, such as all that one commit has made durable.
  func handOver(_ item: Deliveries.Item) {
    let size = item.messageSize
    if size > 0 { underWay.add(size, ordering: .relaxed) }
    let mustSchedule = handed.withLock { handed in
      handed.items.append(item)
      defer { handed.isScheduled = true }
      return !handed.isScheduled
    }
    if mustSchedule { scheduleDeliveries() }
  }

  /// Whether a message waits for a connection of this loop, or is being delivered.
  ///
  /// Relaxed: what the caller must not overtake was handed over by itself, or by a thread that was at the shard before it.
  var hasMessagesUnderWay: Bool { underWay.load(ordering: .relaxed) > 0 }

  /// Keeps a work until fewer messages are under way to this loop; returns false if there are few.
  func delay(_ work: Work) -> Bool {
    if underWay.load(ordering: .relaxed) <= limit { return false }
    // Again inside of the mutex, after which `completeDelayed` finds the work: what it has subtracted before is seen here.
    return handed.withLock { handed in
      if underWay.load(ordering: .relaxed) <= limit { return false }
      handed.delayed.append(work)
      return true
    }
  }

  private func scheduleDeliveries() {
    // The loop refuses a job only once it has ended, and so have its connections: it has room for any number of them.
    try? loop.execute { [self] in deliverSome() }
  }

  /// Lets each connection finish its batch, and then ends it.
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

  private func deliverSome() {
    var (budget, hasMore, works) = (Self.portion, true, 0)
    while budget > 0 {
      guard let item = takeItem() else {
        hasMore = false
        break
      }
      item.deliver(by: self)
      let size = item.messageSize
      if size > 0 {
        underWay.subtract(size, ordering: .relaxed)
        works = 0
      } else {
        // A work may run a whole batch: messages do not wait for many of them.
        works += 1
        if works % 64 == 0 { flushPushed() }
      }
      // A work leads to the next batch of its connection.
      budget -= max(size, 1 << 10)
    }
    flushPushed()
    completeDelayed()
    if hasMore { scheduleDeliveries() }
  }

  /// Gives a message to a connection. The connection sends all messages of a job with one call of the system, at the end of the job; or
  /// earlier if all connections together have got a portion, so that their copies do not take more memory than that.
  func push(_ message: Message, to connection: Connection) {
    connection.push(message)
    local.value.pushedSize += message.size
    if local.value.pushedSize > Self.portion { flushPushed() }
  }

  /// Notes that a connection has something to send from now on.
  func flushLater(_ connection: Connection) { local.value.unflushed.append(connection) }

  private func flushPushed() {
    local.value.pushedSize = 0
    // One by one: a connection that is flushed may go on with its next batch, or close others.
    while let connection = local.value.unflushed.popLast() { connection.flushPushed() }
  }

  /// Takes out what comes next; if that is nothing, the next hand-over schedules a job.
  private func takeItem() -> Deliveries.Item? {
    if let item = local.value.taken.popLast() { return item }
    var items = handed.withLock { handed in
      defer { handed.items = [] }
      handed.isScheduled = !handed.items.isEmpty
      return handed.items
    }
    items.reverse()
    let first = items.popLast()
    local.value.taken = items
    return first
  }

  /// Hands the works back that have waited, if little is under way.
  private func completeDelayed() {
    let works = handed.withLock { handed -> [Work] in
      if handed.delayed.isEmpty || underWay.load(ordering: .relaxed) > limit { return [] }
      defer { handed.delayed = [] }
      return handed.delayed
    }
    for work in works { Deliveries.complete(work) }
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
