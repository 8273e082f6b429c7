/// Running commands.
extension Keyspace {
  /// Runs one command, and appends its one reply.
  mutating func execute(_ call: Invocation, _ out: inout [UInt8]) {
    switch call.code {
    case .dbsize: return out.appendInteger(entries.count)
    case .flushall:
      removeAll()
      return out.appendOK()
    default: break
    }
    let key = call.key(call.code == .msetOne ? 0 : 1)
    expire(key, at: call.now)
    switch call.code {
    case .get, .mgetOne, .set, .msetOne, .setnx, .setex, .psetex, .getset, .getdel, .append, .strlen:
      executeString(call, key, &out)
    case .incr: add(1, to: key, &out)
    case .decr: add(-1, to: key, &out)
    case .incrby, .decrby: addArgument(call, key, &out)
    case .del, .exists, .type, .expire, .pexpire, .ttl, .pttl, .persist: executeKey(call, key, &out)
    case .lpush, .rpush, .lpop, .rpop, .llen, .lrange, .lindex: executeList(call, key, &out)
    case .hset, .hget, .hdel, .hlen, .hgetall, .hexists, .hkeys, .hvals, .hmget, .hincrby:
      executeHash(call, key, &out)
    case .sadd, .srem, .scard, .sismember, .smembers, .spop: executeSet(call, key, &out)
    case .zadd, .zrem, .zscore, .zcard, .zrange, .zrank, .zincrby, .zpopmin: executeSorted(call, key, &out)
    default: out.appendError("ERR '\(call.code)' is not for a shard")
    }
  }

  /// Runs one command that only reads. A key whose time has come counts as missing, and stays there: to remove it is a change.
  func read(_ call: Invocation, _ out: inout [UInt8]) {
    let hidesKey = call.code != .dbsize && isExpired(call.key(1), at: call.now)
    // A copy shares the entries until it changes, and a command that reads changes nothing.
    var copy = hidesKey ? Self.empty : self
    copy.execute(call, &out)
  }

  // MARK: Keys

  private mutating func executeKey(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    switch call.code {
    case .del: out.appendInteger(entries.remove(key) ? 1 : 0)
    case .exists: out.appendInteger(entries[key] == nil ? 0 : 1)
    case .type:
      if let entry = entries[key] { out.appendSimple(entry.value.typeName) } else { out.appendSimple("none") }
    case .expire: setDeadline(call, key, unit: 1000, &out)
    case .pexpire: setDeadline(call, key, unit: 1, &out)
    case .ttl, .pttl:
      guard let entry = entries[key] else { return out.appendInteger(-2) }
      if entry.deadline == 0 { return out.appendInteger(-1) }
      let left = Int(entry.deadline - call.now)
      out.appendInteger(call.code == .ttl ? (left + 500) / 1000 : left)
    default:
      let hadDeadline = (entries[key]?.deadline ?? 0) != 0
      if hadDeadline { setDeadline(0, of: key) }
      out.appendInteger(hadDeadline ? 1 : 0)
    }
  }

  private mutating func setDeadline(_ call: Invocation, _ key: Key, unit: Int, _ out: inout [UInt8]) {
    let options = (3..<max(3, call.count)).map { call.word($0) }
    if let wrong = options.firstIndex(where: { !["NX", "XX", "GT", "LT"].contains($0) }) {
      return out.appendError(Array("ERR Unsupported option ".utf8) + call.beginning(3 + wrong))
    }
    if options.contains("NX"), options.contains(where: { $0 != "NX" }) {
      return out.appendError("ERR NX and XX, GT or LT options at the same time are not compatible")
    }
    if options.contains("GT"), options.contains("LT") {
      return out.appendError("ERR GT and LT options at the same time are not compatible")
    }
    guard let amount = call.integer(2) else { return out.appendError(Refusal.notAnInteger) }
    let (delay, overflows) = amount.multipliedReportingOverflow(by: unit)
    let (deadline, exceeds) = Int(call.now).addingReportingOverflow(delay)
    if overflows || exceeds {
      let name = call.code == .expire ? "expire" : "pexpire"
      return out.appendError("ERR invalid expire time in '\(name)' command")
    }
    guard let before = entries[key]?.deadline else { return out.appendInteger(0) }
    // No deadline counts as the end of time.
    let isAllowed = options.allSatisfy { option in
      switch option {
      case "NX": before == 0
      case "XX": before != 0
      case "GT": before != 0 && deadline > before
      default: before == 0 || deadline < before
      }
    }
    if !isAllowed { return out.appendInteger(0) }
    if deadline <= Int(call.now) { entries.remove(key) } else { setDeadline(Int64(deadline), of: key) }
    out.appendInteger(1)
  }

  // MARK: Counters

  private mutating func addArgument(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    guard let amount = call.integer(2) else { return out.appendError(Refusal.notAnInteger) }
    if call.code == .incrby { return add(amount, to: key, &out) }
    if amount == .min { return out.appendError("ERR decrement would overflow") }
    add(-amount, to: key, &out)
  }

  private mutating func add(_ amount: Int, to key: Key, _ out: inout [UInt8]) {
    guard let index = entries.index(of: key) else {
      entries.set(.string(Bytes(Self.decimal(amount))), for: key)
      return out.appendInteger(amount)
    }
    guard case .string(let bytes) = entries[index] else {
      return out.appendError(Refusal.wrongType)
    }
    guard let before = bytes.withUnsafeBytes({ Int(decimal: $0) }) else {
      return out.appendError(Refusal.notAnInteger)
    }
    let (sum, overflows) = before.addingReportingOverflow(amount)
    if overflows { return out.appendError("ERR increment or decrement would overflow") }
    entries[index] = .string(Bytes(Self.decimal(sum)))
    out.appendInteger(sum)
  }

  static func decimal(_ value: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20)
    bytes.appendDecimal(value)
    return bytes
  }
}

// MARK: Strings

extension Keyspace {
  /// What APPEND makes at most, in bytes. Not an option: a replay must do the same with other options.
  private static let longestString = 512 << 20

  private mutating func executeString(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    switch call.code {
    case .get: appendString(of: key, call.version, &out)
    case .mgetOne:
      if case .string(let bytes) = entries[key]?.value {
        out.appendBulk(bytes)
      } else {
        out.appendNull(call.version)
      }
    case .msetOne:
      entries.set(.string(call.value(1)), for: key)
      out.appendOK()
    case .set: set(call, key, &out)
    case .setnx:
      let isNew = entries[key] == nil
      if isNew { entries.set(.string(call.value(2)), for: key) }
      out.appendInteger(isNew ? 1 : 0)
    case .setex, .psetex:
      let name = call.code == .setex ? "setex" : "psetex"
      guard let amount = call.integer(2) else { return out.appendError(Refusal.notAnInteger) }
      guard let deadline = Self.deadline(in: amount, unit: call.code == .setex ? 1000 : 1, call) else {
        return out.appendError("ERR invalid expire time in '\(name)' command")
      }
      entries.set(.string(call.value(3)), for: key)
      setDeadline(deadline, of: key)
      out.appendOK()
    case .getset:
      if !appendString(of: key, call.version, &out) { return }
      entries.set(.string(call.value(2)), for: key)
    case .getdel: if appendString(of: key, call.version, &out) { entries.remove(key) }
    case .append:
      guard let index = entries.index(of: key) else {
        let bytes = call.value(2)
        entries.set(.string(bytes), for: key)
        return out.appendInteger(bytes.count)
      }
      guard case .string(var bytes) = entries[index] else {
        return out.appendError(Refusal.wrongType)
      }
      let addition = call.bytes(2)
      if bytes.count + addition.count > Self.longestString {
        return out.appendError("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
      }
      entries[index] = .string(Bytes())
      bytes.append(addition)
      out.appendInteger(bytes.count)
      entries[index] = .string(bytes)
    default:
      switch entries[key]?.value {
      case nil: out.appendInteger(0)
      case .string(let bytes): out.appendInteger(bytes.count)
      default: out.appendError(Refusal.wrongType)
      }
    }
  }

  /// Appends the string, or no string; returns false if it is of another type.
  @discardableResult
  private func appendString(of key: Key, _ version: Int, _ out: inout [UInt8]) -> Bool {
    switch entries[key]?.value {
    case nil: out.appendNull(version)
    case .string(let bytes): out.appendBulk(bytes)
    default:
      out.appendError(Refusal.wrongType)
      return false
    }
    return true
  }

  private static func deadline(in amount: Int, unit: Int, _ call: Invocation) -> Int64? {
    let (delay, overflows) = amount.multipliedReportingOverflow(by: unit)
    let (deadline, exceeds) = delay.addingReportingOverflow(Int(call.now))
    return amount <= 0 || overflows || exceeds ? nil : Int64(deadline)
  }

  /// What an option of SET means.
  private static func deadline(_ amount: Int, _ option: String, _ call: Invocation) -> Int64? {
    let unit = option.hasPrefix("EX") ? 1000 : 1
    if !option.hasSuffix("AT") { return deadline(in: amount, unit: unit, call) }
    let (deadline, overflows) = amount.multipliedReportingOverflow(by: unit)
    return amount <= 0 || overflows ? nil : Int64(deadline)
  }

  private mutating func set(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    if call.count == 3 {
      entries.set(.string(call.value(2)), for: key)
      return out.appendOK()
    }
    var (mustBeNew, mustExist, returnsOld, keepsDeadline) = (false, false, false, false)
    // The last time counts, and only that is read, once the options are known to be right.
    var time: (option: String, index: Int)?
    var index = 3
    while index < call.count {
      let option = call.word(index)
      switch option {
      case "NX" where !mustExist: mustBeNew = true
      case "XX" where !mustBeNew: mustExist = true
      case "GET": returnsOld = true
      case "KEEPTTL" where time == nil: keepsDeadline = true
      case "EX", "PX", "EXAT", "PXAT":
        if keepsDeadline || index + 1 == call.count || (time?.option ?? option) != option {
          return out.appendError(Refusal.syntax)
        }
        index += 1
        time = (option, index)
      default: return out.appendError(Refusal.syntax)
      }
      index += 1
    }
    var deadline: Int64 = 0
    if let time {
      guard let amount = call.integer(time.index) else { return out.appendError(Refusal.notAnInteger) }
      guard let found = Self.deadline(amount, time.option, call) else {
        return out.appendError("ERR invalid expire time in 'set' command")
      }
      deadline = found
    }
    let old = entries[key]
    if returnsOld, !appendString(of: key, call.version, &out) { return }
    if (mustBeNew && old != nil) || (mustExist && old == nil) {
      if !returnsOld { out.appendNull(call.version) }
      return
    }
    entries.set(.string(call.value(2)), for: key, keepsDeadline: keepsDeadline)
    if deadline != 0 { setDeadline(deadline, of: key) }
    if !returnsOld { out.appendOK() }
  }
}
