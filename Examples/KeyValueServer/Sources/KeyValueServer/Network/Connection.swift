import Glibc
import ReactorRuntime

/// A client: what was received from it, the batch that is being run, and what is to be sent to it. It belongs to the thread of
/// its loop.
///
/// ```
///  readable ─▶ input ─▶ parse a batch ─▶ works, one per shard ─▶ complete: merge the replies ─▶ output ─▶ send
///                            ▲                                                 │
///                            └───────────── while there is input ──────────────┘
/// ```
///
/// One batch at a time: so replies keep their order, and a client that sends faster than its commands run is not read.
final class Connection {
  let descriptor: Int32
  let id: Int
  let worker: Worker
  let server: Server
  /// This object, for closures and works; nil at the end.
  var bound: LoopBound<Connection>!
  private var watch: Watch?
  /// What the loop watches the descriptor for: to read; to write, while the client does not read and so is not read either, or
  /// while it is the turn of others; nothing, while a batch is running and all replies to those before it were sent.
  private var interest: Loop.Readiness = .readable

  private var input = Input()
  private var output = Output()
  private let replyLimit: ReplyLimit
  var batch: Batch
  /// One per shard, made when it is first needed.
  private var works: [Work?]
  private var isRunning = false
  /// Whether `advance()` is under way, so that a batch that is complete at once does not call it again.
  private var isAdvancing = false
  /// What was published while a batch is running: it must not come in the middle of that.
  private var pushed: [Message] = []
  private var pushedSize = 0
  /// Whether the connection is closed once everything was sent.
  var isEnding = false
  /// Whether everything was sent, and only the client's system has not taken all of it.
  private var isLeaving = false
  private(set) var isClosed = false
  /// How long it may take until the client's system has taken everything, after QUIT or an error.
  private var lingering = Duration.seconds(5)
  var session = Session()

  init(_ descriptor: Int32, id: Int, on worker: Worker, of server: Server) {
    self.descriptor = descriptor
    self.id = id
    self.worker = worker
    self.server = server
    replyLimit = ReplyLimit(server.options.replyLimit)
    batch = Batch(countingTowards: replyLimit)
    works = Array(repeating: nil, count: server.shards.count)
  }

  /// Begins to read.
  func start(as bound: LoopBound<Connection>) throws(WatchError) {
    self.bound = bound
    watch = try worker.loop.watch(descriptor, for: .readable) { _, _ in bound.value.isReady() }
  }

  private func isReady() {
    if interest == .writable { return advance() }
    if isLeaving { return dropWhatComes() }
    // Nothing is to be done before the batch is complete, and without this the loop would call again at once.
    if isRunning { return watch(for: []) }
    input.dropParsed()
    switch worker.receive(from: descriptor, into: &input.bytes) {
    case .nothing: break
    case .end: close()
    case .bytes: if isWithinLimit() { advance() } else { close() }
    }
  }

  /// Whether the client has sent no more than it may of what cannot be run yet: a command without its end, with what is known of
  /// its arguments, and commands that wait for EXEC.
  private func isWithinLimit() -> Bool {
    let waiting = input.size + (session.transaction?.size ?? 0)
    if waiting <= server.options.inputLimit { return true }
    server.inputWarnings.warning(
      "client \(id) reached the max query buffer length with \(waiting) bytes: disconnected")
    return false
  }

  // MARK: Batches

  /// So many bytes of replies are sent before the next batch begins.
  private static let portion = 64 << 10
  /// After so many, the other connections of the loop have their turn.
  private static let turn = 1 << 20

  /// Runs what has been received and sends the replies, batch by batch, as long as neither another thread nor the client has to be
  /// waited for. In one loop: if a batch that is sent called the next one, a client could choose how deep the calls go.
  private func advance() {
    if isAdvancing { return }
    isAdvancing = true
    defer { isAdvancing = false }
    var sent = 0
    while true {
      while !isRunning, !isEnding, !isClosed, !input.isEmpty, output.count < Self.portion {
        if !parseBatch() { break }
        submit()
      }
      if isClosed { return }
      let count = output.count
      // Also while a batch is running: the replies to those before it do not wait for it.
      if count > 0, !flush() { return }
      if isRunning {
        if interest == .writable { watch(for: []) }
        return
      }
      if isEnding { return closeOnceTaken() }
      if count == 0 || input.isEmpty { return watch(for: .readable) }
      sent += count
      // A socket that has taken everything is writable, or will be once the client reads. So the loop calls again.
      if sent > Self.turn { return watch(for: .writable) }
    }
  }

  /// Parses what is there into the batch; returns false if that is no whole command.
  private func parseBatch() -> Bool {
    batch.begin(client: id, at: worker.now())
    replyLimit.begin(behind: output.count)
    let (isWhole, failure) = input.parse(
      into: &batch, by: server.parser, transaction: session.transaction?.size ?? 0)
    if !isWhole { return false }
    batch.placeTypedWords()
    for range in batch.parsed {
      worker.countCommand()
      dispatch(first: range.lowerBound, count: range.count)
      if isEnding { break }
    }
    // What follows QUIT does not count.
    if let failure, !isEnding {
      batch.reply { $0.appendError(Array("ERR Protocol error: ".utf8) + failure) }
      isEnding = true
    }
    return true
  }

  /// Adds a command to the work of a shard.
  func route(_ code: CommandCode, first: Int, count: Int, to shard: Int, combine: Batch.Combination = .single)
  {
    let work = works[shard] ?? makeWork(for: shard)
    if work.commands.isEmpty { batch.shards.append(shard) }
    work.commands.append(Command(code, first: first, count: count, version: session.version))
    batch.slots.append(Batch.Slot(source: shard, combination: combine))
  }

  private func makeWork(for shard: Int) -> Work {
    let work = Work(for: bound, of: worker, countingTowards: replyLimit)
    works[shard] = work
    return work
  }

  private func submit() {
    batch.pending = batch.shards.count
    if batch.pending == 0 { return finish() }
    isRunning = true
    // In the order in which they were first needed. Each may be complete before the next one is submitted.
    for shard in batch.shards {
      // It may be closed by what an earlier shard has published.
      guard !isClosed, let work = works[shard] else { return }
      work.request = batch.request
      server.shards[shard].submit(work)
    }
  }

  /// A shard has run its part.
  func complete(_: Work) {
    if isClosed { return }
    batch.pending -= 1
    if batch.pending > 0 { return }
    finish()
    advance()
  }

  /// All replies are there.
  private func finish() {
    isRunning = false
    batch.countReplies()
    if replyLimit.isExceeded {
      server.outputWarnings.warning(
        "client \(id) wants more than \(server.options.replyLimit) bytes of replies at once: disconnected")
      return close()
    }
    // After the reply that says that the client has left a channel, nothing may come from there.
    let last = pushed.isEmpty ? [] : pushed.filter { !session.channels.contains($0.channel) }
    batch.merge(works, last, into: &output.bytes)
    for shard in batch.shards { works[shard]?.reset() }
    batch.reset()
    sendPushed()
  }

  /// Appends what was published while nothing might come in between. Behind the reply to QUIT, or the last error, nothing comes.
  private func sendPushed() {
    if pushed.isEmpty { return }
    for message in pushed where !isEnding && session.channels.contains(message.channel) {
      message.append(to: &output.bytes, session.version)
    }
    (pushed, pushedSize) = ([], 0)
  }

  // MARK: Sending

  private var waitingSize: Int { output.count + pushedSize }

  /// Sends the output; returns whether all of it was taken. Otherwise the client does not read, and is not read either until it
  /// does; or it has gone.
  private func flush() -> Bool {
    if !output.send(to: descriptor) {
      close()
      return false
    }
    if !output.isEmpty { watch(for: .writable) }
    // A connection that cannot be watched was closed, which empties the output.
    return !isClosed && output.isEmpty
  }

  /// Whether it has subscribed to a channel, or the running batch leaves one.
  var mayGetMessages: Bool { !session.channels.isEmpty || batch.leavesChannels }

  /// A message of a channel. It waits for the end of the running batch, or else until the worker calls ``flushPushed()``.
  func push(_ message: Message) {
    // Nothing comes behind the last reply. Otherwise the output would never be empty while others publish, and the connection
    // would stay. What is of no channel that the running batch leaves would come behind it, and so does not count.
    if isEnding, !isRunning || session.channels.contains(message.channel) { return }
    // Earlier messages of this job have not been sent yet: they do not show that the client does not read. What waits for the end of
    // a batch cannot be sent, and counts.
    let limit = server.options.outputLimit - message.size
    if !output.isEmpty, waitingSize > limit { _ = flush() }
    if isClosed { return }
    if waitingSize > limit {
      server.outputWarnings.warning("client \(id) does not read what it has subscribed to: disconnected")
      return close()
    }
    if isRunning {
      pushed.append(message)
      pushedSize += message.size
      return
    }
    // It was on its way here when the client left the channel, and is too late.
    guard session.channels.contains(message.channel) else { return }
    if output.isEmpty { worker.flushLater(self) }
    message.append(to: &output.bytes, session.version)
  }

  /// Sends what was pushed, unless that has happened, or the connection is closed.
  func flushPushed() { if !output.isEmpty { advance() } }

  // MARK: Reading or not

  private func watch(for readiness: Loop.Readiness) {
    if interest == readiness || isClosed { return }
    interest = readiness
    do { try watch?.change(to: readiness) } catch { close() }
  }

  // MARK: The end

  /// Ends the connection after what it has sent so far. For the end of the server.
  func finishAndClose() {
    isEnding = true
    lingering = .seconds(server.options.grace)
    if !isRunning, output.isEmpty, !isLeaving { closeOnceTaken() }
  }

  /// Closes the connection once the client's system has taken everything. A socket that is closed with input that nobody has read, or
  /// that gets some afterwards, is reset: the system then drops what it has not sent yet. So what the client goes on sending is read and
  /// dropped until then, but not for long.
  private func closeOnceTaken() {
    if Socket.unacknowledged(of: descriptor) == 0, Socket.unread(of: descriptor) == 0 { return close() }
    isLeaving = true
    leaveChannels()
    session = Session()
    input = Input()
    shutdown(descriptor, Int32(SHUT_WR))
    watch(for: .readable)
    if !isClosed { wait(Linger(atMost: lingering)) }
  }

  private func wait(_ linger: Linger) {
    var linger = linger
    guard let pause = linger.nextPause() else { return close() }
    do {
      _ = try worker.loop.schedule(after: pause) { [bound = bound!, linger] in
        bound.value.closeIfTaken(linger)
      }
    } catch {
      // The loop ends.
      close()
    }
  }

  private func closeIfTaken(_ linger: Linger) {
    if isClosed { return }
    // The end of the stream counts as a byte.
    if Socket.unacknowledged(of: descriptor) <= 1 { close() } else { wait(linger) }
  }

  private func dropWhatComes() {
    if case .end = worker.receive(from: descriptor, into: &input.bytes) { return close() }
    input.bytes.removeAllKeepingLittle()
  }

  private func leaveChannels() {
    // The running batch has left some channels, but not all of its works may have been submitted.
    let channels = isRunning ? session.channels.union(batch.departedChannels) : session.channels
    for (shard, channels) in Dictionary(grouping: channels, by: server.shard(of:)) {
      server.shards[shard].unsubscribe(id, from: channels)
    }
  }

  func close() {
    if isClosed { return }
    isClosed = true
    watch?.dispose()
    Glibc.close(descriptor)
    leaveChannels()
    worker.forget(self)
    // A message may be under way to this object, and would keep what it has.
    (batch, input, output, pushed) = (Batch(countingTowards: replyLimit), Input(), Output(), [])
    (pushedSize, session) = (0, Session())
    // The works refer to this object.
    works = []
    bound = nil
  }
}
