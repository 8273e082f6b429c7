/// What the command line says.
struct Options: Sendable {
  var host = "127.0.0.1"
  var port: UInt16 = 6380
  var threads = 1
  var kind = ShardKind.reactor
  /// 0: one per thread, or sixteen per thread if threads share them.
  var shards = 0
  var mostClients = 20_000
  /// The largest argument, and the most that waits for a client that has subscribed and does not read, in bytes.
  var argumentLimit = 512 << 20
  var outputLimit = 32 << 20
  /// After how many microseconds without work a loop sleeps. At once costs least where clients share the processors.
  var patience = 0
  /// The port of the metrics; nil is none.
  var metrics: UInt16?

  static let help = """
    usage: KeyValueServer [--host 127.0.0.1] [--port 6380] [--threads 1] [--shards reactor|mutex|actor]
                          [--shard-count n] [--max-clients 20000] [--max-argument bytes] [--patience microseconds]
                          [--metrics port]
    """

  struct Invalid: Error {
    let argument: String
  }

  init(_ arguments: some Sequence<String>) throws(Invalid) {
    var iterator = arguments.makeIterator()
    while let name = iterator.next() {
      guard let text = iterator.next() else { throw Invalid(argument: name) }
      switch name {
      case "--host": host = text
      case "--port": port = try Self.parse(text, name)
      case "--threads": threads = max(1, try Self.parse(text, name))
      case "--shards":
        guard let kind = ShardKind(rawValue: text) else { throw Invalid(argument: "\(name) \(text)") }
        self.kind = kind
      case "--shard-count": shards = try Self.parse(text, name)
      case "--max-clients": mostClients = try Self.parse(text, name)
      case "--max-argument": argumentLimit = try Self.parse(text, name)
      case "--patience": patience = try Self.parse(text, name)
      case "--metrics": metrics = try Self.parse(text, name) as UInt16
      default: throw Invalid(argument: name)
      }
    }
  }

  private static func parse<Number: FixedWidthInteger>(_ text: String, _ name: String) throws(Invalid)
    -> Number
  {
    guard let number = Number(text), number >= 0 else { throw Invalid(argument: "\(name) \(text)") }
    return number
  }

  var shardCount: Int { shards > 0 ? shards : kind == .reactor ? threads : 16 * threads }

  /// What CONFIG GET finds.
  var settings: [(name: String, value: String)] {
    [
      ("save", ""), ("appendonly", "no"), ("databases", "1"), ("maxclients", "\(mostClients)"),
      ("proto-max-bulk-len", "\(argumentLimit)"), ("port", "\(port)"), ("io-threads", "\(threads)"),
    ]
  }
}
