import Glibc

/// The commands that a connection runs itself.
extension Connection {
  func run(_ command: Command) {
    switch command.code {
    // These append to the request, and so must not run while an invocation refers to it.
    case .exec: execute()
    case .reset: reset()
    case .unsubscribe where command.count == 1: unsubscribeFromAll()
    default: run(Invocation(request: batch.request, command: command))
    }
  }

  private func run(_ call: Invocation) {
    switch call.code {
    case .ping: ping(call)
    case .echo: batch.reply { $0.appendBulk(call.bytes(1)) }
    case .quit:
      batch.reply { $0.appendOK() }
      isEnding = true
    case .select: select(call)
    case .hello: hello(call)
    case .client: client(call)
    case .command: describeCommands(call)
    case .config: configure(call)
    case .info:
      let text = server.info((1..<call.count).map { call.word($0).lowercased() })
      batch.reply { [version = session.version] in $0.appendText(text, version) }
    case .time:
      batch.reply {
        $0.appendArray(2)
        $0.appendBulk(String(call.now / 1000))
        $0.appendBulk(String(call.now % 1000 * 1000))
      }
    case .multi:
      if session.transaction != nil {
        return batch.reply { $0.appendError("ERR MULTI calls can not be nested") }
      }
      session.transaction = Transaction()
      batch.reply { $0.appendOK() }
    case .discard:
      if session.transaction == nil { return batch.reply { $0.appendError("ERR DISCARD without MULTI") } }
      session.transaction = nil
      batch.reply { $0.appendOK() }
    case .subscribe: subscribe(call)
    case .unsubscribe: unsubscribe(call)
    default: batch.reply { $0.appendError("ERR '\(call.code)' is not for a connection") }
    }
  }

  private func reset() {
    session.transaction = nil
    session.name = []
    for channel in session.channels {
      routeUnsubscription(from: channel)
      leave(channel)
    }
    session.version = 2
    batch.reply { $0.appendSimple("RESET") }
  }

  private func ping(_ call: Invocation) {
    if call.count > 2 { return batch.reply { $0.appendError(Refusal.wrongCount("ping")) } }
    let isSubscriber = !session.channels.isEmpty && session.version == 2
    batch.reply { out in
      if isSubscriber {
        out.appendArray(2)
        out.appendBulk("pong")
        out.appendBulk(call.count == 2 ? call.bytes(1) : [])
      } else if call.count == 2 {
        out.appendBulk(call.bytes(1))
      } else {
        out.appendSimple("PONG")
      }
    }
  }

  private func select(_ call: Invocation) {
    batch.reply { out in
      switch call.integer(1) {
      case 0: out.appendOK()
      case nil: out.appendError("ERR value is not an integer or out of range")
      case let index? where Int32(exactly: index) == nil:
        out.appendError("ERR value is out of range, value must between \(Int32.min) and \(Int32.max)")
      default: out.appendError("ERR DB index is out of range")
      }
    }
  }

  private func hello(_ call: Invocation) {
    if call.count > 1 {
      guard let version = call.integer(1) else {
        return batch.reply { $0.appendError("ERR Protocol version is not an integer or out of range") }
      }
      if version != 2, version != 3 {
        return batch.reply { $0.appendError("NOPROTO unsupported protocol version") }
      }
      var index = 2
      while index < call.count {
        guard call.word(index) == "SETNAME", index + 1 < call.count else {
          let error =
            Array("ERR Syntax error in HELLO option '".utf8) + call.beginning(index) + Array("'".utf8)
          return batch.reply { $0.appendError(error) }
        }
        let name = call.bytes(index + 1)
        if !isName(name) { return batch.reply { $0.appendError(Self.wrongName) } }
        session.name = name
        index += 2
      }
      session.version = version
    }
    let (version, id) = (session.version, id)
    batch.reply { out in
      out.appendMap(7, version)
      for (field, value) in [("server", "redis"), ("version", Server.redisVersion)] {
        out.appendBulk(field)
        out.appendBulk(value)
      }
      out.appendBulk("proto")
      out.appendInteger(version)
      out.appendBulk("id")
      out.appendInteger(id)
      for (field, value) in [("mode", "standalone"), ("role", "master")] {
        out.appendBulk(field)
        out.appendBulk(value)
      }
      out.appendBulk("modules")
      out.appendArray(0)
    }
  }

  private static let wrongName = "ERR Client names cannot contain spaces, newlines or special characters."

  /// Whether a client may be called so. An empty name is none.
  private func isName(_ bytes: [UInt8]) -> Bool { bytes.allSatisfy { (33...126).contains($0) } }

  private func client(_ call: Invocation) {
    let (id, name, version) = (id, session.name, session.version)
    switch call.word(1) {
    case "SETNAME":
      let name = call.bytes(2)
      if !isName(name) { return batch.reply { $0.appendError(Self.wrongName) } }
      session.name = name
      batch.reply { $0.appendOK() }
    case "GETNAME":
      batch.reply { if name.isEmpty { $0.appendNull(version) } else { $0.appendBulk(name) } }
    case "ID": batch.reply { $0.appendInteger(id) }
    case "SETINFO": batch.reply { $0.appendOK() }
    case "NO-EVICT", "NO-TOUCH":
      let isKnown = ["ON", "OFF"].contains(call.word(2))
      batch.reply { if isKnown { $0.appendOK() } else { $0.appendError(Refusal.syntax) } }
    default:
      // INFO: the others were refused before.
      batch.reply {
        $0.appendText("id=\(id) name=\(String(decoding: name, as: UTF8.self)) resp=\(version)\n", version)
      }
    }
  }

  private func describeCommands(_ call: Invocation) {
    let all = CommandTable.shared.all
    switch call.count > 1 ? call.word(1) : "" {
    case "COUNT": batch.reply { $0.appendInteger(all.count) }
    case "DOCS": batch.reply { [version = session.version] in $0.appendMap(0, version) }
    case "INFO" where call.count > 2:
      let found = (2..<call.count).map { CommandTable.shared.find(call.request.bytes, call.slice($0)) }
      batch.reply { [version = session.version] out in
        out.appendArray(found.count)
        for info in found { if let info { out.append(info) } else { out.appendNull(version) } }
      }
    default:
      batch.reply { out in
        out.appendArray(all.count)
        for info in all { out.append(info) }
      }
    }
  }

  private func configure(_ call: Invocation) {
    switch call.word(1) {
    case "GET":
      let patterns = (2..<call.count).compactMap { call.pattern($0) }
      let settings = server.options.settings(port: server.port).filter { setting in
        patterns.contains { fnmatch($0, setting.name, 0) == 0 }
      }
      batch.reply { [version = session.version] out in
        out.appendMap(settings.count, version)
        for (name, value) in settings {
          out.appendBulk(name)
          out.appendBulk(value)
        }
      }
    case "RESETSTAT":
      server.resetStatistics()
      batch.reply { $0.appendOK() }
    default: batch.reply { $0.appendError("ERR CONFIG can only be read here") }
    }
  }
}

extension [UInt8] {
  /// What COMMAND says about a command.
  fileprivate mutating func append(_ info: CommandInfo) {
    appendArray(6)
    appendBulk(info.name)
    appendInteger(info.arity)
    appendArray(1)
    appendSimple(info.writes ? "write" : "readonly")
    let (first, last, step) = info.keyPositions
    for position in [first, last, step] { appendInteger(position) }
  }
}

extension CommandInfo {
  /// The first and the last argument that is a key, and the distance between two, as COMMAND says it.
  fileprivate var keyPositions: (Int, Int, Int) {
    switch shape {
    case .connection, .everyShard: (0, 0, 0)
    // A channel is no key.
    case .oneKey where code.isForChannels: (0, 0, 0)
    case .oneKey: (1, 1, 1)
    case .eachKey, .arrayOfKeys: (1, -1, 1)
    case .eachPair: (1, -1, 2)
    }
  }
}
