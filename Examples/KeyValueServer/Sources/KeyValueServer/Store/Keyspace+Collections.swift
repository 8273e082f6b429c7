// MARK: Lists

extension Keyspace {
  mutating func executeList(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    switch call.code {
    case .lpush, .rpush:
      let length = update(key, as: ListValue.self) { list in
        for index in 2..<call.count {
          if call.code == .lpush {
            list.pushFront(call.bytes(index))
          } else {
            list.pushBack(call.bytes(index))
          }
        }
        return list.count
      }
      out.appendInteger(orWrongType: length)
    case .lpop, .rpop: pop(call, key, &out)
    case .llen: out.appendInteger(orWrongType: read(key, as: ListValue.self) { $0.count })
    case .lrange:
      guard let first = call.integer(2), let last = call.integer(3) else {
        return out.appendError(Refusal.notAnInteger)
      }
      let isList: Void? = read(key, as: ListValue.self) { list in
        let range = Self.range(first, last, of: list.count)
        out.appendArray(range.count)
        for index in range { out.appendBulk(list[index]) }
      }
      if isList == nil { out.appendError(Refusal.wrongType) }
    default:
      let isList: Void? = read(key, as: ListValue.self) { list in
        if list.isEmpty { return out.appendNull(call.version) }
        guard let index = call.integer(2) else { return out.appendError(Refusal.notAnInteger) }
        let place = index < 0 ? index + list.count : index
        if place >= 0, place < list.count {
          out.appendBulk(list[place])
        } else {
          out.appendNull(call.version)
        }
      }
      if isList == nil { out.appendError(Refusal.wrongType) }
    }
  }

  private mutating func pop(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    if call.count > 3 { return out.appendError(Refusal.wrongCount(call.code == .lpop ? "lpop" : "rpop")) }
    let most = call.count == 3 ? call.integer(2) : 1
    guard let most, most >= 0 else { return out.appendError("ERR value is out of range, must be positive") }
    let exists = entries[key] != nil
    let isList: Void? = update(key, as: ListValue.self, createsKey: false) { list in
      let count = min(most, list.count)
      if call.count == 3 { if exists { out.appendArray(count) } else { out.appendNullArray(call.version) } }
      if call.count == 2, count == 0 { out.appendNull(call.version) }
      for _ in 0..<count {
        if let element = call.code == .lpop ? list.popFront() : list.popBack() { out.appendBulk(element) }
      }
    }
    if isList == nil { out.appendError(Refusal.wrongType) }
  }

  /// What Redis means by two indices, of which negative ones count from the end.
  static func range(_ first: Int, _ last: Int, of count: Int) -> Range<Int> {
    let start = max(0, first < 0 ? first + count : first)
    let end = min(count - 1, last < 0 ? last + count : last)
    return start > end || start >= count ? 0..<0 : start..<(end + 1)
  }
}

// MARK: Hashes

extension Keyspace {
  typealias Hash = [Key: [UInt8]]

  mutating func executeHash(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    switch call.code {
    case .hset:
      if call.count % 2 != 0 { return out.appendError(Refusal.wrongCount("hset")) }
      let added = update(key, as: Hash.self) { hash in
        var added = 0
        for index in stride(from: 2, to: call.count, by: 2)
        where hash.updateValue(call.bytes(index + 1), forKey: call.key(index)) == nil { added += 1 }
        return added
      }
      out.appendInteger(orWrongType: added)
    case .hdel:
      let removed = update(key, as: Hash.self, createsKey: false) { hash in
        (2..<call.count).count { hash.removeValue(forKey: call.key($0)) != nil }
      }
      out.appendInteger(orWrongType: removed)
    case .hincrby: addToField(call, key, &out)
    default:
      let isHash: Void? = read(key, as: Hash.self) { readHash(call, $0, &out) }
      if isHash == nil { out.appendError(Refusal.wrongType) }
    }
  }

  private func readHash(_ call: Invocation, _ hash: Hash, _ out: inout [UInt8]) {
    switch call.code {
    case .hget:
      if let value = hash[call.key(2)] { out.appendBulk(value) } else { out.appendNull(call.version) }
    case .hmget:
      out.appendArray(call.count - 2)
      for index in 2..<call.count {
        if let value = hash[call.key(index)] { out.appendBulk(value) } else { out.appendNull(call.version) }
      }
    case .hlen: out.appendInteger(hash.count)
    case .hexists: out.appendInteger(hash[call.key(2)] == nil ? 0 : 1)
    case .hgetall:
      out.appendMap(hash.count, call.version)
      for (field, value) in hash {
        out.appendBulk(field.bytes)
        out.appendBulk(value)
      }
    default:
      out.appendArray(hash.count)
      for (field, value) in hash {
        if call.code == .hkeys { out.appendBulk(field.bytes) } else { out.appendBulk(value) }
      }
    }
  }

  private mutating func addToField(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    guard let amount = call.integer(3) else { return out.appendError(Refusal.notAnInteger) }
    let isHash: Void? = update(key, as: Hash.self) { hash in
      let field = call.key(2)
      guard let before = hash[field].map({ Int(decimal: $0) }) ?? 0 else {
        return out.appendError("ERR hash value is not an integer")
      }
      let (sum, overflows) = before.addingReportingOverflow(amount)
      if overflows { return out.appendError("ERR increment or decrement would overflow") }
      hash[field] = Self.decimal(sum)
      out.appendInteger(sum)
    }
    if isHash == nil { out.appendError(Refusal.wrongType) }
  }
}

// MARK: Sets

extension Keyspace {
  mutating func executeSet(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    switch call.code {
    case .sadd:
      let added = update(key, as: SetValue.self) { set in
        (2..<call.count).count { set.insert(call.key($0)) }
      }
      out.appendInteger(orWrongType: added)
    case .srem:
      let removed = update(key, as: SetValue.self, createsKey: false) { set in
        (2..<call.count).count { set.remove(call.key($0)) }
      }
      out.appendInteger(orWrongType: removed)
    case .scard: out.appendInteger(orWrongType: read(key, as: SetValue.self) { $0.count })
    case .sismember:
      out.appendInteger(orWrongType: read(key, as: SetValue.self) { $0.contains(call.key(2)) ? 1 : 0 })
    case .smembers:
      let isSet: Void? = read(key, as: SetValue.self) { set in
        out.append(contentsOf: "\(call.version >= 3 ? "~" : "*")\(set.count)\r\n".utf8)
        for member in set.members { out.appendBulk(member.bytes) }
      }
      if isSet == nil { out.appendError(Refusal.wrongType) }
    default:
      if call.count > 3 { return out.appendError(Refusal.syntax) }
      let most = call.count == 3 ? call.integer(2) : 1
      guard let most, most >= 0 else { return out.appendError("ERR value is out of range, must be positive") }
      let isSet: Void? = update(key, as: SetValue.self, createsKey: false) { set in
        let count = min(most, set.count)
        if call.count == 3 {
          out.append(contentsOf: "\(call.version >= 3 ? "~" : "*")\(count)\r\n".utf8)
        } else if count == 0 {
          out.appendNull(call.version)
        }
        // Any members will do, but the same ones when the command is replayed.
        for _ in 0..<count {
          if let member = set.removeAny(seed: call.now) { out.appendBulk(member.bytes) }
        }
      }
      if isSet == nil { out.appendError(Refusal.wrongType) }
    }
  }
}

extension [UInt8] {
  /// Appends an integer, or the error that the key has a value of another type.
  mutating func appendInteger(orWrongType value: Int?) {
    if let value { appendInteger(value) } else { appendError(Refusal.wrongType) }
  }
}
