/// The commands that were received together, and where their replies come from.
struct Batch {
  /// How several replies become one. If one of them is an error, that one.
  enum Combination {
    case single
    /// This one and those marked `more` are added up.
    case sum
    /// This one counts; those marked `more` are the same.
    case first
    case more
  }

  /// A reply, or a part of one.
  struct Slot {
    /// The shard, or -1 for the connection itself.
    let source: Int
    let combination: Combination
  }

  static let mostCommands = 1024
  /// A larger command has a batch of its own: if it is refused, no other one is.
  static let mostBytes = 1 << 20
  static let own = -1

  var request = Request()
  /// Where each command is in the arguments of the request.
  var parsed: [Range<Int>] = []
  /// The words of commands that somebody has typed, and where their slices are in the arguments.
  private var typed: [(first: Int, words: [[UInt8]])] = []
  var slots: [Slot] = []
  /// The shards that have something to do.
  var shards: [Int] = []
  /// How many of them are not done.
  var pending = 0
  /// The connection's own replies, and where each of them ends.
  private var replies: [UInt8] = []
  private var ends: [Int] = []
  private let replyLimit: ReplyLimit
  /// How many bytes of the replies it has counted.
  private var counted = 0
  /// The replies with which the connection leaves channels, and the version of the protocol there. The last messages of a channel
  /// come before its reply.
  private var departures: [Key: (slot: Int, version: Int)] = [:]
  /// The channels that the connection leaves.
  var departedChannels: some Sequence<Key> { departures.keys }
  var leavesChannels: Bool { !departures.isEmpty }
  /// The beginning of the array that EXEC returns, while its commands are added to the batch. No message comes in the middle of it.
  var transactionSlot: Int?

  init(countingTowards limit: ReplyLimit) { replyLimit = limit }

  mutating func begin(client: Int, at now: Int64) {
    request.client = client
    request.now = now
  }

  /// Makes it empty, once all replies are merged. So an idle connection keeps little, whatever its last batch was.
  mutating func reset() {
    request.bytes.removeAllKeepingLittle()
    request.arguments.removeAllKeepingLittle()
    parsed.removeAllKeepingLittle()
    typed = []
    slots.removeAllKeepingLittle()
    shards.removeAllKeepingLittle()
    replies.removeAllKeepingLittle()
    ends.removeAllKeepingLittle()
    counted = 0
    departures = [:]
  }

  /// Parses as many commands as are there, and as belong into one batch; returns what is wrong with the next one, if it is.
  ///
  /// INFO and CONFIG begin a batch. The connection runs them itself, before any shard runs its part of the batch, and they read what
  /// the commands before them change.
  ///
  /// - Parameter transaction: How many bytes wait for EXEC. If they are many, EXEC has a batch of its own, as a large command.
  mutating func parse(
    _ input: Span<UInt8>, from start: Int, at position: inout Int, _ parser: Parser,
    resuming partial: inout Parser.Partial, transaction: Int
  ) -> [UInt8]? {
    let isolatesExec = transaction > Self.mostBytes
    while parsed.count < Self.mostCommands {
      let (first, begin) = (request.arguments.count, position)
      let outcome = parser.parse(
        input, from: start, at: &position, into: &request.arguments, resuming: &partial)
      var name: UInt64 = 0
      switch outcome {
      case .command:
        let slice = request.arguments[first]
        name = Self.letters(count: slice.count) { input[start + slice.start + $0] }
      case .words(let words): name = Self.letters(count: words[0].count) { words[0][$0] }
      default: break
      }
      let isExec = isolatesExec && name == Self.exec
      let beginsBatch = isExec || name == Self.info || name == Self.config
      switch outcome {
      case .command where position - start > Self.mostBytes && !parsed.isEmpty,
        .command where beginsBatch && !parsed.isEmpty, .words where beginsBatch && !parsed.isEmpty:
        // The next batch begins with it.
        request.arguments.removeLast(request.arguments.count - first)
        position = begin
        return nil
      case .command: parsed.append(first..<request.arguments.count)
      case .words(let words):
        typed.append((first, words))
        for _ in words { request.arguments.append(Request.Slice(start: 0, count: 0)) }
        parsed.append(first..<request.arguments.count)
      case .nothing: continue
      case .incomplete: return nil
      case .failed(let reason): return reason
      }
      if isExec { return nil }
    }
    return nil
  }

  // As `letters` returns them.
  private static let exec: UInt64 = 0x6578_6563
  private static let info: UInt64 = 0x696e_666f
  private static let config: UInt64 = 0x636f_6e66_6967

  /// The letters of a name that may begin a batch, in lower case, as one number; 0 for a name that is shorter or longer.
  private static func letters(count: Int, _ byte: (Int) -> UInt8) -> UInt64 {
    if count != 4, count != 6 { return 0 }
    // Letters only, so this bit is their case.
    return (0..<count).reduce(0) { $0 << 8 | UInt64(byte($1) | 0x20) }
  }

  /// Appends what was typed to the bytes of the request, which has those of all other commands by now.
  mutating func placeTypedWords() {
    for (first, words) in typed {
      for (index, word) in words.enumerated() {
        request.arguments[first + index] = Request.Slice(start: request.bytes.count, count: word.count)
        request.bytes += word
      }
    }
  }

  /// Adds a reply of the connection itself.
  mutating func reply(_ body: (inout [UInt8]) -> Void) {
    body(&replies)
    replyLimit.count(&replies, since: &counted)
    ends.append(replies.count)
    slots.append(Slot(source: Self.own, combination: .single))
  }

  /// Counts the rest of the connection's own replies, of which there are no more.
  mutating func countReplies() { replyLimit.count(&replies, since: &counted, step: 1) }

  /// Notes that the connection leaves a channel with the next reply.
  mutating func leave(_ channel: Key, _ version: Int) {
    departures[channel] = (transactionSlot ?? slots.count, version)
  }

  // MARK: Replies

  /// Appends all replies in the order of the commands.
  ///
  /// - Parameter messages: Those of channels that the connection has left: in this batch, or else before, and then they are dropped.
  mutating func merge(_ works: [Work?], _ messages: [Message], into output: inout [UInt8]) {
    if shards.isEmpty { return output.append(contentsOf: replies) }
    if shards.count == 1, ends.isEmpty, !hasCombinations, let work = works[shards[0]] {
      if output.isEmpty { swap(&output, &work.output) } else { output.append(contentsOf: work.output) }
      return
    }
    // How many replies of each source are used up; the connection's own are last.
    var used = Array(repeating: 0, count: works.count + 1)
    func next(_ source: Int) -> ArraySlice<UInt8> {
      let index = source < 0 ? works.count : source
      let (bytes, ends) = source < 0 ? (replies, self.ends) : (works[source]!.output, works[source]!.ends)
      defer { used[index] += 1 }
      return bytes[(used[index] == 0 ? 0 : ends[used[index] - 1])..<ends[used[index]]]
    }
    var departing: [Int: [(message: Message, version: Int)]] = [:]
    for message in messages {
      if let (slot, version) = departures[message.channel] {
        departing[slot, default: []].append((message, version))
      }
    }
    var index = 0
    while index < slots.count {
      let slot = slots[index]
      for (message, version) in departing[index] ?? [] { message.append(to: &output, version) }
      let reply = next(slot.source)
      index += 1
      var parts = [reply]
      while index < slots.count, case .more = slots[index].combination {
        parts.append(next(slots[index].source))
        index += 1
      }
      if parts.count > 1, let error = parts.first(where: { $0.first == UInt8(ascii: "-") }) {
        output.append(contentsOf: error)
      } else if case .sum = slot.combination {
        output.appendInteger(parts.reduce(0) { $0 + (Int(decimal: Array($1.dropFirst().dropLast(2))) ?? 0) })
      } else {
        output.append(contentsOf: reply)
      }
    }
  }

  private var hasCombinations: Bool {
    slots.contains { if case .single = $0.combination { false } else { true } }
  }
}

extension Array {
  /// Empties the array, and keeps its memory for the next batch unless that is much: four elements for each command of a full batch, or 16 KB.
  mutating func removeAllKeepingLittle() {
    let kept = Swift.max(16 << 10, 4 * Batch.mostCommands * MemoryLayout<Element>.stride)
    removeAll(keepingCapacity: capacity * MemoryLayout<Element>.stride <= kept)
  }
}
