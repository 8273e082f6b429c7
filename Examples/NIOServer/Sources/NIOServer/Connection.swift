import NIOCore
import ReactorRuntime

/// A client: asks the shards, and writes the answers in the order of the commands.
///
/// Shards on other event loops may be faster or slower than that on the connection's own. So answers wait until those before
/// them are there.
///
/// ```
///  received ─▶ waiting ─▶ ask a shard, while fewer than `limit` answers are outstanding ─▶ answers ─▶ written
/// ```
final class Connection: ChannelInboundHandler {
  typealias InboundIn = Command
  typealias OutboundOut = ByteBuffer

  /// The event that makes a connection end with the answers of what it has received.
  struct ServerEnds: Sendable {}

  /// How many commands may be asked and unanswered at a time. While as many are, the connection reads no more.
  private static let limit = 1024

  private let shards: [Shard]
  /// The commands that were received and not asked yet: none, unless as many as `limit` are unanswered. A read that has begun goes on
  /// although the connection stops reading, and delivers everything that it has received.
  private var waiting = CircularBuffer<Command>()
  /// The answers of the commands that were asked, from the first unanswered one on; nil for those that have not come.
  private var answers = CircularBuffer<Answer?>()
  /// How many commands were answered.
  private var answered = 0
  private var isReading = false
  private var isWriting = false
  /// Whether the channel reads what comes.
  private var readsMore = true
  /// Whether no more commands come, since the client has ended what it sends, or has sent something that is no command: then the last
  /// answer says so. The channel is closed after the last answer.
  private var isEnding = false
  /// Whether it is the server that ends: what still comes is dropped.
  private var discards = false
  /// Whether the last answer was written.
  private var isDone = false

  init(_ shards: [Shard]) { self.shards = shards }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if discards { return }
    isReading = true
    waiting.append(unwrapInboundIn(data))
    askWaiting(context)
    if answers.count == Self.limit { updateReading(context) }
  }

  /// Asks the shards, in the order of the commands, as long as few are unanswered.
  private func askWaiting(_ context: ChannelHandlerContext) {
    while answers.count < Self.limit, !waiting.isEmpty { ask(waiting.removeFirst(), context) }
  }

  private func ask(_ command: Command, _ context: ChannelHandlerContext) {
    let number = answered + answers.count
    answers.append(nil)
    guard let key = command.key else {
      // No shard is needed.
      return receive(command.immediateAnswer, number, context)
    }
    let shard = shards[Self.index(of: key, among: shards.count)]
    // The future is one of this event loop, so the closure need not be Sendable.
    let asked = shard.ask(on: context.eventLoop) { Shard.Action(command: command, reply: $0) }
    asked.assumeIsolated().whenComplete { result in
      switch result {
      case .success(let answer): self.receive(answer, number, context)
      case .failure(let error): self.receive(.error("not processed: \(error)"), number, context)
      }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    writeAnswers(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The decoder refuses all that still comes after its error.
    if isEnding, error is ByteToMessageDecoderError { return }
    guard !isEnding, let malformed = error as? CommandDecoder.Malformed else {
      return context.close(promise: nil)
    }
    isEnding = true
    updateReading(context)
    // The answers of the commands before it come first, and shards on other event loops may still owe some of them. The last
    // one closes the channel.
    waiting.append(.invalid("Protocol error: \(malformed.reason)"))
    askWaiting(context)
    writeAnswers(context)
  }

  /// The client has ended what it sends, and may still wait for answers; or the server ends.
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ServerEnds {
      if !isEnding {
        discards = true
        end(context)
      }
    } else if case .some(.inputClosed) = event as? ChannelEvent {
      if isDone { context.close(promise: nil) } else { end(context) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func end(_ context: ChannelHandlerContext) {
    isEnding = true
    isReading = false
    updateReading(context)
    if answers.isEmpty {
      // Behind what is still being written.
      context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: closing(context))
    } else {
      writeAnswers(context)
    }
  }

  /// The client has read what was too much.
  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { writeAnswers(context) }
    updateReading(context)
    context.fireChannelWritabilityChanged()
  }

  private func receive(_ answer: Answer, _ number: Int, _ context: ChannelHandlerContext) {
    answers[offset: number - answered] = answer
    // Answers that come while commands are being read leave together.
    if number == answered, !isReading { writeAnswers(context) }
  }

  /// Writes the answers that are there, as long as the client reads: others wait here as what they are, and the channel copies what
  /// it is given.
  private func writeAnswers(_ context: ChannelHandlerContext) {
    // Writing may make the channel writable again, which calls this.
    if isWriting { return }
    isWriting = true
    while context.channel.isWritable, let buffer = takeAnswers(context.channel.allocator) {
      // There is room now. After this, no answer is outstanding only if no command waits.
      askWaiting(context)
      let isLast = isEnding && answers.isEmpty
      context.writeAndFlush(wrapOutboundOut(buffer), promise: isLast ? closing(context) : nil)
    }
    isWriting = false
    updateReading(context)
  }

  /// A promise of the last write. The channel is closed only when that is done: closing drops what the socket has not taken yet.
  private func closing(_ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { _ in self.close(context) }
    return promise
  }

  private func close(_ context: ChannelHandlerContext) {
    if !discards { return context.close(promise: nil) }
    // The client may still be sending. A socket that is closed while there is something to read is reset, and the client may lose answers
    // that it has not read. So the connection reads on, until the client ends what it sends.
    isDone = true
    context.close(mode: .output, promise: nil)
    readsMore = true
    context.channel.setOption(.autoRead, value: true).whenFailure { _ in }
  }

  /// Takes out answers, about 64 KB of them; nil if the first one has not come.
  private func takeAnswers(_ allocator: ByteBufferAllocator) -> ByteBuffer? {
    guard case .some(.some) = answers.first else { return nil }
    var buffer = allocator.buffer(capacity: 64)
    while buffer.readableBytes < 64 << 10, let first = answers.first, let answer = first {
      answers.removeFirst()
      answered += 1
      answer.write(to: &buffer)
    }
    return buffer
  }

  /// Reads while few answers wait, and while the client reads.
  private func updateReading(_ context: ChannelHandlerContext) {
    // What comes is dropped.
    if isDone { return }
    let mayRead = !isEnding && answers.count < Self.limit && context.channel.isWritable
    if mayRead == readsMore { return }
    readsMore = mayRead
    context.channel.setOption(.autoRead, value: mayRead).whenFailure { _ in }
  }

  private static func index(of key: ByteBuffer, among count: Int) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in key.readableBytesView { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int((hash ^ (hash >> 32)).multipliedFullWidth(by: UInt64(count)).high)
  }
}

extension Command {
  /// The answer of a command without a key.
  fileprivate var immediateAnswer: Answer {
    if case .invalid(let text) = self { .error(text) } else { .text("PONG") }
  }
}
