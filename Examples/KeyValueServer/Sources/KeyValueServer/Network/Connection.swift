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
  /// What the loop watches the descriptor for: to read; to write, while the client does not read and so is not read either; nothing,
  /// while a batch is running and all replies to those before it were sent.
  private var interest: Loop.Readiness = .readable

  private var input: [UInt8] = []
  /// Where the next batch begins.
  private var inputStart = 0
  /// What is known of the command at `inputStart`.
  private var partial = Parser.Partial()
  private var output: [UInt8] = []
  private var outputStart = 0
  var batch = Batch()
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
  var session = Session()

  init(_ descriptor: Int32, id: Int, on worker: Worker, of server: Server) {
    self.descriptor = descriptor
    self.id = id
    self.worker = worker
    self.server = server
    works = Array(repeating: nil, count: server.shards.count)
  }

  /// Begins to read.
  func start(as bound: LoopBound<Connection>) throws(WatchError) {
    self.bound = bound
    watch = try worker.loop.watch(descriptor, for: .readable) { _, ready in bound.value.isReady(ready) }
  }

  private func isReady(_ ready: Loop.Readiness) {
    if ready.contains(.writable), hasOutput { return flushAndAdvance() }
    if isLeaving { return dropWhatComes() }
    // Nothing is to be done before the batch is complete, and without this the loop would call again at once.
    if isRunning { return watch(for: []) }
    dropParsedInput()
    switch worker.receive(from: descriptor, into: &input) {
    case .nothing: break
    case .end: close()
    case .bytes: if isWithinLimit() { advance() } else { close() }
    }
  }

  /// Whether the client has sent no more than it may of what cannot be run yet: a command without its end, and commands that
  /// wait for EXEC.
  private func isWithinLimit() -> Bool {
    let waiting = input.count - inputStart + (session.transaction?.size ?? 0)
    if waiting <= server.options.inputLimit { return true }
    server.inputWarnings.warning(
      "client \(id) reached the max query buffer length with \(waiting) bytes: disconnected")
    return false
  }

  /// Moves the beginning of a command to the front, once what was parsed before it is at least as much: so each byte is
  /// moved about once, and a client that never stops does not make the input grow.
  private func dropParsedInput() {
    guard inputStart > 0, inputStart >= input.count - inputStart else { return }
    input.removeSubrange(..<inputStart)
    inputStart = 0
  }

  // MARK: Batches

  /// Runs what has been received, batch by batch, as long as none has to wait for another thread.
  private func advance() {
    if isAdvancing { return }
    isAdvancing = true
    while !isRunning, !isEnding, !isClosed, inputStart < input.count, !hasOutput || output.count < 64 << 10 {
      if !parseBatch() { break }
      submit()
    }
    isAdvancing = false
    if isClosed { return }
    // Also while a batch is running: the replies to those before it do not wait for it.
    if hasOutput { return flushAndAdvance() }
    if isRunning { return }
    if isEnding { closeOnceTaken() } else { watch(for: .readable) }
  }

  /// Parses what is there into the batch; returns false if that is no whole command.
  private func parseBatch() -> Bool {
    batch.begin(client: id, at: worker.now())
    var position = inputStart
    let transaction = session.transaction?.size ?? 0
    // Taken out, since parsing changes other properties of this object meanwhile. And back again, so that the array has one owner:
    // with a copy beside it, what is added to the input would copy all of it each time.
    var bytes: [UInt8] = []
    swap(&bytes, &input)
    let failure = batch.parse(
      bytes.span, from: inputStart, at: &position, server.parser, resuming: &partial,
      transaction: transaction)
    swap(&bytes, &input)
    if position == inputStart, failure == nil {
      // A long argument gets its memory at once; a very long one, of which perhaps nothing comes, as the array grows.
      if let size = partial.knownSize, size > 2 * input.count {
        input.reserveCapacity(inputStart + min(size, 16 << 20))
      }
      return false
    }
    if inputStart == 0, position == input.count {
      swap(&input, &batch.request.bytes)
      input.removeAllKeepingLittle()
    } else {
      batch.request.bytes.append(contentsOf: input[inputStart..<position])
      inputStart = position
      if inputStart == input.count { dropInput() }
    }
    batch.placeTypedWords()
    for range in batch.parsed {
      worker.countCommand()
      dispatch(first: range.lowerBound, count: range.count)
      if isEnding { break }
    }
    // What follows QUIT does not count.
    if let failure, !isEnding {
      batch.reply { $0.appendError("ERR Protocol error: \(failure)") }
      isEnding = true
    }
    return true
  }

  private func dropInput() {
    input.removeAllKeepingLittle()
    inputStart = 0
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
    let work = Work(for: bound, of: worker)
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
    // After the reply that says that the client has left a channel, nothing may come from there.
    let last = pushed.isEmpty ? [] : pushed.filter { !session.channels.contains($0.channel) }
    batch.merge(works, last, into: &output)
    for shard in batch.shards { works[shard]?.reset() }
    batch.reset()
    sendPushed()
  }

  /// Appends what was published while nothing might come in between.
  private func sendPushed() {
    if pushed.isEmpty { return }
    for message in pushed where session.channels.contains(message.channel) {
      message.append(to: &output, session.version)
    }
    (pushed, pushedSize) = ([], 0)
  }

  // MARK: Sending

  private var hasOutput: Bool { outputStart < output.count }
  private var waitingSize: Int { output.count - outputStart + pushedSize }

  private func flushAndAdvance() {
    guard let count = Socket.send(output, from: outputStart, to: descriptor) else { return close() }
    outputStart += count
    dropSentOutput()
    if hasOutput {
      // The client does not read: it is not read either, until it does.
      return watch(for: .writable)
    }
    output.removeAllKeepingLittle()
    outputStart = 0
    if isEnding, !isRunning { return closeOnceTaken() }
    if inputStart < input.count { return advance() }
    watch(for: isRunning ? [] : .readable)
  }

  /// Moves what was not sent to the front, once it is no more than what was: so a client that never reads all of it does not make the
  /// output grow.
  private func dropSentOutput() {
    guard outputStart > 0, outputStart >= output.count - outputStart else { return }
    output.removeSubrange(..<outputStart)
    outputStart = 0
  }

  /// Whether it has subscribed to a channel, or the running batch leaves one.
  var mayGetMessages: Bool { !session.channels.isEmpty || batch.leavesChannels }

  /// A message of a channel. It waits for the end of the running batch, or else until the worker calls ``flushPushed()``.
  func push(_ message: Message) {
    // Earlier messages of this job have not been sent yet: they do not show that the client does not read. What waits for the end of
    // a batch cannot be sent, and counts.
    let limit = server.options.outputLimit - message.size
    if hasOutput, waitingSize > limit { flushAndAdvance() }
    if isClosed || isLeaving { return }
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
    if !hasOutput { worker.flushLater(self) }
    message.append(to: &output, session.version)
  }

  /// Sends what was pushed, unless that has happened, or the connection is closed.
  func flushPushed() { if hasOutput { flushAndAdvance() } }

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
    if !isRunning, !hasOutput, !isLeaving { closeOnceTaken() }
  }

  /// Closes the connection once the client's system has taken everything. A socket that is closed with input that nobody has read, or
  /// that gets some afterwards, is reset: the system then drops what it has not sent yet. So what the client goes on sending is read and
  /// dropped until then, or as long as the end of the server may take.
  private func closeOnceTaken() {
    if Socket.unacknowledged(of: descriptor) == 0, Socket.unread(of: descriptor) == 0 { return close() }
    isLeaving = true
    leaveChannels()
    session = Session()
    (input, inputStart, partial) = ([], 0, Parser.Partial())
    shutdown(descriptor, Int32(SHUT_WR))
    watch(for: .readable)
    if !isClosed { wait(before: .now + .seconds(server.options.grace)) }
  }

  private func wait(before deadline: ContinuousClock.Instant) {
    do {
      _ = try worker.loop.schedule(after: .milliseconds(10)) { [bound = bound!] in
        bound.value.closeIfTaken(before: deadline)
      }
    } catch {
      // The loop ends.
      close()
    }
  }

  private func closeIfTaken(before deadline: ContinuousClock.Instant) {
    if isClosed { return }
    // The end of the stream counts as a byte.
    if Socket.unacknowledged(of: descriptor) <= 1 || .now >= deadline {
      close()
    } else {
      wait(before: deadline)
    }
  }

  private func dropWhatComes() {
    if case .end = worker.receive(from: descriptor, into: &input) { return close() }
    input.removeAllKeepingLittle()
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
    (batch, input, output, pushed) = (Batch(), [], [], [])
    (inputStart, outputStart, pushedSize) = (0, 0, 0)
    (partial, session) = (Parser.Partial(), Session())
    // The works refer to this object.
    works = []
    bound = nil
  }
}
