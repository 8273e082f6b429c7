import Glibc

/// What the command line says.
struct Options: Sendable {
  var host = "127.0.0.1"
  var port: UInt16 = 6380
  var threads = 1
  var kind = ShardKind.reactor
  /// 0: as many as ``shardCount`` says.
  var shards = 0
  var mostClients = 20_000
  /// The largest argument, and the most that waits for a client that has subscribed and does not read, in bytes.
  var argumentLimit = 512 << 20
  var outputLimit = 32 << 20
  /// The most that the replies to a client may have at once, in bytes; 0 is no limit.
  var replyLimit = 1 << 30
  /// The most that a client may have sent of what cannot be run yet, in bytes: a command without its end, a transaction.
  var inputLimit = 1 << 30
  /// After how many microseconds without work a loop sleeps. At once costs least where clients share the processors.
  var patience = 0
  /// How many seconds the end may take after SIGTERM.
  var grace = 5
  /// The port of the metrics; nil is none.
  var metrics: UInt16?
  /// The folder in which the keys are kept; nil keeps them in memory.
  var data: String?
  /// Whether a reply says that its write is on the disk, or only that it was made.
  var acknowledgement = Acknowledgement.durable
  /// After how many bytes of commands, at least, the journal is compacted.
  var compactionGrowth = 256 << 20

  enum Acknowledgement: String {
    case durable, early
  }

  static let help = """
    usage: KeyValueServer [--host 127.0.0.1] [--port 6380] [--threads 1] [--shards reactor|loop|mutex|actor]
                          [--shard-count n] [--max-clients 20000] [--max-argument bytes] [--max-query-buffer bytes]
                          [--max-output-buffer bytes] [--patience microseconds] [--metrics port] [--grace seconds]
                          [--data folder [--acknowledge durable|early] [--compact-after bytes]]
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
      case "--max-query-buffer": inputLimit = try Self.parse(text, name)
      case "--max-output-buffer": replyLimit = try Self.parse(text, name)
      case "--patience": patience = try Self.parse(text, name)
      case "--metrics": metrics = try Self.parse(text, name) as UInt16
      case "--grace": grace = min(86_400, try Self.parse(text, name))
      case "--data": data = text
      case "--acknowledge":
        guard let kind = Acknowledgement(rawValue: text) else { throw Invalid(argument: "\(name) \(text)") }
        acknowledgement = kind
      case "--compact-after": compactionGrowth = try Self.parse(text, name)
      default: throw Invalid(argument: name)
      }
    }
    if data == nil { return }
    guard kind == .reactor else { throw Invalid(argument: "--data with --shards \(kind)") }
    // A record has one command or more, each as a whole.
    argumentLimit = min(argumentLimit, DurableShard.largestArgument)
  }

  private static func parse<Number: FixedWidthInteger>(_ text: String, _ name: String) throws(Invalid)
    -> Number
  {
    guard let number = Number(text), number >= 0 else { throw Invalid(argument: "\(name) \(text)") }
    return number
  }

  /// Where the threads of the connections run the shards: one for two threads. While one of the two runs what it has for the shard, the
  /// other one receives and sends; and the fewer shards there are, the more of a batch is one action. Shards on loops: one for each.
  var shardCount: Int {
    if shards > 0 { return shards }
    let isRunByConnections = (kind == .reactor && data == nil) || kind == .mutex
    return isRunByConnections ? (threads + 1) / 2 : threads
  }

  /// How much may wait for each shard. `KV_WAITING` makes it less than the clients can send, for the tests only.
  var waitingLimit: WaitingLimit {
    let override = getenv("KV_WAITING").flatMap { Int(String(cString: $0)) }
    return WaitingLimit(clients: mostClients, override: override.map { max(1, $0) })
  }

  /// What INFO and the log call the shards.
  var shardName: String { data == nil ? "\(kind)" : "durable" }

  /// What CONFIG GET finds.
  func settings(port: UInt16) -> [(name: String, value: String)] {
    [
      ("save", ""), ("appendonly", data == nil ? "no" : "yes"),
      ("appendfsync", data != nil && acknowledgement == .durable ? "always" : "no"), ("databases", "1"),
      ("maxclients", "\(mostClients)"), ("client-query-buffer-limit", "\(inputLimit)"),
      ("client-output-buffer-limit", "normal \(replyLimit) 0 0 slave 0 0 0 pubsub \(outputLimit) 0 0"),
      ("proto-max-bulk-len", "\(argumentLimit)"), ("port", "\(port)"), ("io-threads", "\(threads)"),
    ]
  }
}
