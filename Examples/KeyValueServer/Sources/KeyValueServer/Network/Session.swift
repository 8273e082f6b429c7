/// What a connection remembers from command to command.
struct Session {
  /// The version of the protocol.
  var version = 2
  var name: [UInt8] = []
  /// The channels that it has subscribed to.
  var channels: Set<Key> = []
  var transaction: Transaction?
}

/// The commands between MULTI and EXEC.
struct Transaction {
  var commands: [(info: CommandInfo, bytes: [UInt8], arguments: [Request.Slice])] = []
  /// Whether one of them was refused, so that EXEC refuses all.
  private(set) var isBroken = false
  /// How much memory they take, in bytes, or about that much: ``sizeBesideBytes(arguments:)``.
  var size = 0

  /// Notes that a command was refused. None of the others is run, so none is kept.
  mutating func markBroken() {
    isBroken = true
    (commands, size) = ([], 0)
  }

  /// How many bytes a command takes besides those that were received: its element of `commands`, an array that has room for up to twice
  /// as many, and two arrays of its own.
  static func sizeBesideBytes(arguments: Int) -> Int {
    160 + arguments * MemoryLayout<Request.Slice>.stride
  }
}

/// Which shards run a command, or what the connection does itself.
extension Connection {
  func dispatch(first: Int, count: Int) {
    let name = batch.request.arguments[first]
    guard let info = CommandTable.shared.find(batch.request.bytes, name) else {
      if !isOfHTTP(name) { return refuse(unknownCommand(first, count)) }
      server.inputWarnings.warning("client \(id) sends HTTP, perhaps by order of a web page: disconnected")
      isEnding = true
      return
    }
    if !info.accepts(count) { return refuse(Refusal.wrongCount(info.name), info.code) }
    if info.hasSubcommand(count), let error = refusalOfSubcommand(info, first, count) {
      return refuse(error)
    }
    if session.transaction != nil, ![.multi, .exec, .discard, .quit, .reset].contains(info.code) {
      queue(info, first, count)
    } else if !session.channels.isEmpty, session.version == 2,
      ![.subscribe, .unsubscribe, .ping, .quit, .reset].contains(info.code)
    {
      let name = info.hasSubcommand(count) ? "\(info.name)|\(subcommand(first))" : info.name
      refuse(
        """
        ERR Can't execute '\(name)': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in \
        this context
        """, info.code)
    } else {
      spread(info, first, count)
    }
  }

  /// Whether this is how a request of HTTP begins, or one of its lines. A web page can make the browser of a person who can reach this
  /// server send such a request, with commands in its body. Redis looks for the same two words.
  private func isOfHTTP(_ name: Request.Slice) -> Bool {
    guard name.count == 4 || name.count == 5 else { return false }
    // Capital letters only: other bytes have something else in this bit.
    let word = batch.request.bytes[name.start..<(name.start + name.count)].map {
      (65...90).contains($0) ? $0 | 0x20 : $0
    }
    return word == Array("post".utf8) || word == Array("host:".utf8)
  }

  private func refuse(_ error: String, _ code: CommandCode? = nil) { refuse(Array(error.utf8), code) }

  /// Replies with an error. After that EXEC fails; and if EXEC itself is refused, that is the end of the transaction.
  private func refuse(_ error: [UInt8], _ code: CommandCode? = nil) {
    if code == .exec {
      session.transaction = nil
      let reason = error.dropFirst("ERR ".utf8.count)
      return batch.reply {
        $0.appendError(Array("EXECABORT Transaction discarded because of: ".utf8) + reason)
      }
    }
    session.transaction?.markBroken()
    batch.reply { $0.appendError(error) }
  }

  /// As Redis says it: with as many arguments as fit into 128 bytes, the last of which may be cut.
  private func unknownCommand(_ first: Int, _ count: Int) -> [UInt8] {
    var list: [UInt8] = []
    for index in first + 1..<first + count {
      if list.count >= 128 { break }
      let beginning = batch.request.beginning(of: index, upTo: 128 - list.count)
      list += Array("'".utf8) + beginning + Array("' ".utf8)
    }
    return Array("ERR unknown command '".utf8) + batch.request.beginning(of: first)
      + Array("', with args beginning with: ".utf8) + list
  }

  /// Why a command with subcommands does not have this one, or not with so many arguments; nil if it does.
  private func refusalOfSubcommand(_ info: CommandInfo, _ first: Int, _ count: Int) -> [UInt8]? {
    let name = subcommand(first)
    guard let arity = CommandTable.arity(of: name, in: info.code) else {
      return Array("ERR unknown subcommand '".utf8) + batch.request.beginning(of: first + 1)
        + Array("'. Try \(info.name.uppercased()) HELP.".utf8)
    }
    let accepts = arity < 0 ? count >= -arity : count == arity
    return accepts ? nil : Array(Refusal.wrongCount("\(info.name)|\(name)").utf8)
  }

  /// The name of a subcommand, in lower case.
  private func subcommand(_ first: Int) -> String {
    let call = Invocation(request: batch.request, command: Command(.command, first: first, count: 2))
    return call.word(1).lowercased()
  }

  /// Adds a command to the works of its shards.
  private func spread(_ info: CommandInfo, _ first: Int, _ count: Int) {
    switch info.shape {
    case .connection:
      run(Command(info.code, first: first, count: count, version: session.version))
    case .oneKey: route(info.code, first: first, count: count, to: shard(of: first + 1))
    case .eachKey where count == 2: route(info.code, first: first, count: 2, to: shard(of: first + 1))
    case .eachKey:
      for index in 1..<count {
        // As if the argument before the key were the name of the command.
        let place = first + index - 1
        route(info.code, first: place, count: 2, to: shard(of: place + 1), combine: index == 1 ? .sum : .more)
      }
    case .arrayOfKeys:
      batch.reply { $0.appendArray(count - 1) }
      for index in 1..<count {
        route(.mgetOne, first: first + index - 1, count: 2, to: shard(of: first + index))
      }
    case .eachPair:
      if count % 2 == 0 { return batch.reply { $0.appendError(Refusal.wrongCount(info.name)) } }
      for index in stride(from: 1, to: count, by: 2) {
        let place = first + index
        route(.msetOne, first: place, count: 2, to: shard(of: place), combine: index == 1 ? .first : .more)
      }
    case .everyShard where info.code == .flushall && !mayFlush(first, count):
      batch.reply { $0.appendError(Refusal.syntax) }
    case .everyShard(let isSum):
      for shard in server.shards.indices {
        let combination: Batch.Combination = shard > 0 ? .more : isSum ? .sum : .first
        route(info.code, first: first, count: 1, to: shard, combine: combination)
      }
    }
  }

  /// Whether FLUSHALL or FLUSHDB has no argument that it does not know: it deletes everything. Both ways are the same here.
  private func mayFlush(_ first: Int, _ count: Int) -> Bool {
    if count == 1 { return true }
    let call = Invocation(request: batch.request, command: Command(.flushall, first: first, count: count))
    return count == 2 && ["SYNC", "ASYNC"].contains(call.word(1))
  }

  private func shard(of argument: Int) -> Int {
    let slice = batch.request.arguments[argument]
    return server.shard(of: batch.request.bytes, slice)
  }

  // MARK: Transactions

  private func queue(_ info: CommandInfo, _ first: Int, _ count: Int) {
    batch.reply { $0.appendQueued() }
    if session.transaction?.isBroken == true { return }
    let slices = batch.request.arguments[first..<first + count]
    let start = slices.first!.start
    let end = slices.last!.start + slices.last!.count
    session.transaction?.size += end - start + Transaction.sizeBesideBytes(arguments: count)
    session.transaction?.commands.append(
      (
        info, Array(batch.request.bytes[start..<end]),
        slices.map { Request.Slice(start: $0.start - start, count: $0.count) }
      ))
  }

  /// Adds all commands of the transaction to the batch. Those of one shard are in one work, so no other client sees a part of
  /// them; between two shards others may.
  func execute() {
    guard let transaction = session.transaction else {
      return batch.reply { $0.appendError("ERR EXEC without MULTI") }
    }
    session.transaction = nil
    if transaction.isBroken {
      return batch.reply { $0.appendError("EXECABORT Transaction discarded because of previous errors.") }
    }
    batch.transactionSlot = batch.slots.count
    defer { batch.transactionSlot = nil }
    batch.reply { $0.appendArray(transaction.commands.count) }
    for (info, bytes, arguments) in transaction.commands {
      let (start, first) = (batch.request.bytes.count, batch.request.arguments.count)
      batch.request.bytes.append(contentsOf: bytes)
      for slice in arguments {
        batch.request.arguments.append(Request.Slice(start: start + slice.start, count: slice.count))
      }
      spread(info, first, arguments.count)
    }
  }

  // MARK: Channels

  func subscribe(_ call: Invocation) {
    for index in 1..<call.count {
      session.channels.insert(call.key(index))
      let place = call.command.first + index
      // What the shard does for it has no reply of its own, and comes first: a message can only follow.
      route(.subscribeOne, first: place, count: 1, to: shard(of: place))
      replyChannel("subscribe", call.bytes(index))
    }
  }

  func unsubscribeFromAll() {
    if session.channels.isEmpty { return replyChannel("unsubscribe", nil) }
    for channel in session.channels {
      routeUnsubscription(from: channel)
      leave(channel)
      replyChannel("unsubscribe", channel.bytes.array)
    }
  }

  func unsubscribe(_ call: Invocation) {
    for index in 1..<call.count {
      let place = call.command.first + index
      route(.unsubscribeOne, first: place, count: 1, to: shard(of: place))
      leave(call.key(index))
      replyChannel("unsubscribe", call.bytes(index))
    }
  }

  /// Notes that the client leaves a channel with the next reply, if it has subscribed to it.
  func leave(_ channel: Key) {
    if session.channels.remove(channel) == nil { return }
    batch.leave(channel, session.version)
  }

  /// Adds the end of a subscription to the batch, which is run behind what the batch has subscribed to.
  func routeUnsubscription(from channel: Key) {
    let (start, first) = (batch.request.bytes.count, batch.request.arguments.count)
    channel.bytes.withUnsafeBytes { batch.request.bytes.append(contentsOf: $0) }
    batch.request.arguments.append(Request.Slice(start: start, count: channel.bytes.count))
    route(.unsubscribeOne, first: first, count: 1, to: shard(of: first))
  }

  private func replyChannel(_ kind: String, _ channel: [UInt8]?) {
    let (count, version) = (session.channels.count, session.version)
    batch.reply { out in
      out.appendPush(3, version)
      out.appendBulk(kind)
      if let channel { out.appendBulk(channel) } else { out.appendNull(version) }
      out.appendInteger(count)
    }
  }
}
