/// What the server understands. The cases that only the server itself sends are at the end of the list.
///
/// Journals contain the raw values of those that write: a new command goes to the very end, and none goes away.
enum CommandCode: UInt8, Sendable {
  // The connection's own.
  case ping, echo, quit, select, hello, client, command, config, info, multi, exec, discard, subscribe,
    unsubscribe
  case reset, time
  // One key.
  case get, set, setnx, setex, psetex, getset, getdel, append, strlen, incr, decr, incrby, decrby
  case type, expire, pexpire, ttl, pttl, persist
  case lpush, rpush, lpop, rpop, llen, lrange, lindex
  case hset, hget, hdel, hlen, hgetall, hexists, hkeys, hvals, hmget, hincrby
  case sadd, srem, scard, sismember, smembers, spop
  case zadd, zrem, zscore, zcard, zrange, zrank, zincrby, zpopmin
  case publish
  // Several keys, or all.
  case del, exists, mget, mset, dbsize, flushall
  // What `mget` and `mset` are for each of their keys, and what is left of a subscription.
  case mgetOne, msetOne, subscribeOne, unsubscribeOne

  /// Whether it is about channels, and so about no key.
  var isForChannels: Bool {
    switch self {
    case .publish, .subscribeOne, .unsubscribeOne: true
    default: false
    }
  }

  /// Whether it may change keys.
  var writes: Bool { Self.writers[Int(rawValue)] }

  private static let writers: [Bool] = {
    var writers = Array(repeating: false, count: 256)
    for info in CommandTable.shared.all where info.writes { writers[Int(info.code.rawValue)] = true }
    writers[Int(CommandCode.msetOne.rawValue)] = true
    return writers
  }()
}

/// How a command is spread over the shards.
enum CommandShape: Sendable {
  /// The connection runs it itself.
  case connection
  /// The shard of its first argument runs it.
  case oneKey
  /// Each key is a command of its own; the reply is the sum.
  case eachKey
  /// Each key is a command of its own; the reply is an array.
  case arrayOfKeys
  /// Each pair of key and value is a command of its own; all replies are the same.
  case eachPair
  /// Every shard runs it; the reply is the sum, or the first.
  case everyShard(isSum: Bool)
}

/// A command by its name.
struct CommandInfo: Sendable {
  let name: String
  let code: CommandCode
  /// How many arguments it has, with its name; negative: at least so many. As COMMAND says it.
  let arity: Int
  let shape: CommandShape
  let writes: Bool

  /// Whether its second argument is the name of a subcommand.
  func hasSubcommand(_ count: Int) -> Bool {
    switch code {
    case .client, .config: true
    case .command: count > 1
    default: false
    }
  }

  func accepts(_ count: Int) -> Bool { arity < 0 ? count >= -arity : count == arity }
}

/// All commands, found by name without making a string: a small hash table with open addressing.
struct CommandTable: Sendable {
  static let shared = CommandTable()

  private struct Name: Hashable {
    var low: UInt64 = 0
    var high: UInt64 = 0
  }

  private static let size = 512
  private var slots: [(name: Name, info: CommandInfo)?] = Array(repeating: nil, count: Self.size)
  let all: [CommandInfo]

  private init() {
    all = Self.list
    for info in all {
      let bytes = Array(info.name.utf8)
      let name = Self.pack(bytes, 0, bytes.count)!
      var index = Self.index(of: name)
      while slots[index] != nil { index = (index + 1) % Self.size }
      slots[index] = (name, info)
    }
  }

  func find(_ bytes: [UInt8], _ slice: Request.Slice) -> CommandInfo? {
    guard let name = Self.pack(bytes, slice.start, slice.count) else { return nil }
    var index = Self.index(of: name)
    while let slot = slots[index] {
      if slot.name == name { return slot.info }
      index = (index + 1) % Self.size
    }
    return nil
  }

  /// How many arguments a subcommand has, with both names, as in ``CommandInfo/arity``; nil if there is none of that name. Those of
  /// CONFIG that change something are there to be refused with a reason.
  static func arity(of subcommand: String, in command: CommandCode) -> Int? {
    switch (command, subcommand) {
    case (.client, "setname"), (.client, "no-evict"), (.client, "no-touch"): 3
    // Redis has this, and the one before, since 7.2. Clients send it when they connect.
    case (.client, "setinfo"): 4
    case (.client, "getname"), (.client, "id"), (.client, "info"): 2
    case (.command, "count"): 2
    case (.command, "docs"), (.command, "info"): -2
    case (.config, "get"): -3
    case (.config, "set"): -4
    case (.config, "resetstat"), (.config, "rewrite"): 2
    default: nil
    }
  }

  /// At most 16 letters, in lower case.
  private static func pack(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Name? {
    if count == 0 || count > 16 { return nil }
    var name = Name()
    for index in 0..<count {
      // Letters only, so this bit is their case.
      let byte = UInt64(bytes[start + index] | 0x20)
      if index < 8 { name.low = name.low << 8 | byte } else { name.high = name.high << 8 | byte }
    }
    return name
  }

  private static func index(of name: Name) -> Int {
    Int(((name.low ^ name.high &* 31) &* 0x9E37_79B9_7F4A_7C15) >> 55)
  }

  private static let list: [CommandInfo] = {
    func row(_ name: String, _ code: CommandCode, _ arity: Int, _ shape: CommandShape, writes: Bool = false)
      -> CommandInfo
    { CommandInfo(name: name, code: code, arity: arity, shape: shape, writes: writes) }
    func own(_ name: String, _ code: CommandCode, _ arity: Int) -> CommandInfo {
      row(name, code, arity, .connection)
    }
    func read(_ name: String, _ code: CommandCode, _ arity: Int) -> CommandInfo {
      row(name, code, arity, .oneKey)
    }
    func write(_ name: String, _ code: CommandCode, _ arity: Int) -> CommandInfo {
      row(name, code, arity, .oneKey, writes: true)
    }
    return [
      own("ping", .ping, -1), own("echo", .echo, 2), own("quit", .quit, -1), own("select", .select, 2),
      own("hello", .hello, -1), own("client", .client, -2), own("command", .command, -1),
      own("config", .config, -2), own("info", .info, -1), own("multi", .multi, 1), own("exec", .exec, 1),
      own("discard", .discard, 1), own("subscribe", .subscribe, -2), own("unsubscribe", .unsubscribe, -1),
      own("reset", .reset, 1), own("time", .time, 1),
      read("get", .get, 2), write("set", .set, -3), write("setnx", .setnx, 3), write("setex", .setex, 4),
      write("psetex", .psetex, 4), write("getset", .getset, 3), write("getdel", .getdel, 2),
      write("append", .append, 3), read("strlen", .strlen, 2), write("incr", .incr, 2),
      write("decr", .decr, 2),
      write("incrby", .incrby, 3), write("decrby", .decrby, 3), read("type", .type, 2),
      write("expire", .expire, -3), write("pexpire", .pexpire, -3), read("ttl", .ttl, 2),
      read("pttl", .pttl, 2),
      write("persist", .persist, 2),
      write("lpush", .lpush, -3), write("rpush", .rpush, -3), write("lpop", .lpop, -2),
      write("rpop", .rpop, -2),
      read("llen", .llen, 2), read("lrange", .lrange, 4), read("lindex", .lindex, 3),
      write("hset", .hset, -4), read("hget", .hget, 3), write("hdel", .hdel, -3), read("hlen", .hlen, 2),
      read("hgetall", .hgetall, 2), read("hexists", .hexists, 3), read("hkeys", .hkeys, 2),
      read("hvals", .hvals, 2), read("hmget", .hmget, -3), write("hincrby", .hincrby, 4),
      write("sadd", .sadd, -3), write("srem", .srem, -3), read("scard", .scard, 2),
      read("sismember", .sismember, 3), read("smembers", .smembers, 2), write("spop", .spop, -2),
      write("zadd", .zadd, -4), write("zrem", .zrem, -3), read("zscore", .zscore, 3),
      read("zcard", .zcard, 2),
      read("zrange", .zrange, -4), read("zrank", .zrank, 3), write("zincrby", .zincrby, 4),
      write("zpopmin", .zpopmin, -2), read("publish", .publish, 3),
      row("del", .del, -2, .eachKey, writes: true), row("unlink", .del, -2, .eachKey, writes: true),
      row("exists", .exists, -2, .eachKey), row("mget", .mget, -2, .arrayOfKeys),
      row("mset", .mset, -3, .eachPair, writes: true), row("dbsize", .dbsize, 1, .everyShard(isSum: true)),
      row("flushall", .flushall, -1, .everyShard(isSum: false), writes: true),
      row("flushdb", .flushall, -1, .everyShard(isSum: false), writes: true),
    ]
  }()
}
