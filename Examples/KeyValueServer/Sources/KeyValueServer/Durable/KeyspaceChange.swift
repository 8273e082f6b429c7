import ReactorJournal

/// What a journal has of a work: its commands that write, and the time at which they run. Or the time at which expired keys were
/// removed.
struct KeyspaceChange: JournalRecord {
  private enum Kind: UInt8 {
    case commands = 1
    case expiry = 2
  }

  private let kind: Kind
  private let request: Request
  private let commands: [Command]
  /// Gets the replies; nil in a replay.
  let work: Work?

  /// The change that a work makes. It must have been submitted, and not be handed back yet. Its time must be the one that counts in
  /// the shard: commands that only read are not recorded, and may have found keys expired.
  static func commands(of work: Work) -> Self {
    Self(kind: .commands, request: work.request, commands: work.commands, work: work)
  }

  static func expiry(at now: Int64) -> Self {
    var request = Request()
    request.now = now
    return Self(kind: .expiry, request: request, commands: [], work: nil)
  }

  private init(kind: Kind, request: Request, commands: [Command], work: Work?) {
    (self.kind, self.request, self.commands, self.work) = (kind, request, commands, work)
  }

  /// How many bytes a record takes in the journal, about: each argument has a length, and the record a head, which is twice as long if the
  /// record is alone in its turn.
  ///
  /// - Parameters:
  ///   - bytes: Of all arguments together.
  ///   - count: How many arguments there are, with the names of the commands.
  static func size(ofArguments bytes: Int, count: Int) -> Int { 32 + 4 * count + bytes }

  /// That of a change that was read from the journal.
  var size: Int { Self.size(ofArguments: request.bytes.count, count: request.arguments.count) }

  /// Changes the keys, for nobody who waits for a reply.
  func apply(to keyspace: inout Keyspace) {
    var request = request
    request.now = keyspace.advance(to: request.now)
    switch kind {
    case .expiry: _ = keyspace.expireSome(at: request.now)
    case .commands:
      var ignored: [UInt8] = []
      for command in commands {
        keyspace.execute(Invocation(request: request, command: command), &ignored)
        ignored.removeAll(keepingCapacity: true)
      }
    }
  }

  // MARK: The record

  func encode(into encoder: inout RecordEncoder) {
    encoder.append(kind.rawValue)
    encoder.append(request.now)
    for command in commands where command.code.writes {
      encoder.append(command.code.rawValue)
      encoder.append(varint: UInt64(command.count))
      for index in command.first..<(command.first + command.count) {
        guard command.recorded.contains(index) else {
          encoder.append(varint: 0)
          continue
        }
        let slice = request.arguments[index]
        encoder.append(varint: UInt64(slice.count))
        encoder.append(
          contentsOf: request.bytes.span.bytes.extracting(slice.start..<(slice.start + slice.count)))
      }
    }
  }

  init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
    guard let kind = Kind(rawValue: try decoder.read()) else { throw MalformedRecord() }
    var (request, commands) = (Request(), [Command]())
    request.now = try decoder.read()
    while decoder.remainingCount > 0 {
      guard let code = CommandCode(rawValue: try decoder.read()), code.writes else { throw MalformedRecord() }
      let count = try decoder.readVarint()
      guard count <= UInt64(decoder.remainingCount) else { throw MalformedRecord() }
      commands.append(Command(code, first: request.arguments.count, count: Int(count)))
      for _ in 0..<count {
        let bytes = try decoder.readBytes()
        request.arguments.append(Request.Slice(start: request.bytes.count, count: bytes.count))
        request.bytes += bytes
      }
    }
    self.init(kind: kind, request: request, commands: commands, work: nil)
  }
}
