import ReactorJournal

/// The keys of a shard as bytes. By hand: as JSON they would take several times as long, and as much space.
extension DurableShard {
  /// Half of what a row of SQLite can have. The whole is the end of compaction for a shard.
  private static let largeSnapshot = 500_000_000

  static func encodeSnapshot(of state: borrowing Keyspace, into encoder: inout RecordEncoder) {
    encoder.append(varint: UInt64(state.entries.count))
    for (key, entry) in state.entries {
      encoder.append(key.bytes)
      encoder.append(entry.deadline)
      encoder.append(entry.value)
    }
    encoder.append(state.latest)
    if encoder.byteCount > largeSnapshot {
      Log.warning(
        """
        a shard has \(encoder.byteCount) bytes of keys: with more than 1000000000 it is no longer compacted, and the journal grows \
        with every write; a new folder can have more shards (--shard-count)
        """)
    }
  }

  static func decodeSnapshot(
    from decoder: inout RecordDecoder, version: UInt16
  ) throws(MalformedRecord) -> Keyspace {
    var keyspace = Keyspace()
    keyspace.snapshotSize = decoder.remainingCount
    let count = try decoder.readCount()
    keyspace.entries.reserveCapacity(count)
    for _ in 0..<count {
      let key = Key(Bytes(try decoder.readBytes()))
      let deadline: Int64 = try decoder.read()
      keyspace.entries.set(try decoder.readValue(), for: key)
      if deadline != 0 { keyspace.setDeadline(deadline, of: key) }
    }
    // Older snapshots end here.
    if decoder.remainingCount > 0 { _ = keyspace.advance(to: try decoder.read()) }
    return keyspace
  }
}

/// The types of values, as they are in snapshots.
private enum ValueTag {
  static let string: UInt8 = 1
  static let list: UInt8 = 2
  static let hash: UInt8 = 3
  static let set: UInt8 = 4
  static let sorted: UInt8 = 5
}

extension RecordEncoder {
  /// As an array of bytes, which ``RecordDecoder/readBytes()`` reads.
  fileprivate mutating func append(_ bytes: Bytes) {
    bytes.withUnsafeBytes { bytes in
      append(varint: UInt64(bytes.count))
      append(contentsOf: bytes.bytes)
    }
  }

  fileprivate mutating func append(_ value: Keyspace.Value) {
    switch value {
    case .string(let bytes):
      append(ValueTag.string)
      append(bytes)
    case .list(let list):
      append(ValueTag.list)
      append(varint: UInt64(list.count))
      for index in 0..<list.count { append(list[index]) }
    case .hash(let hash):
      append(ValueTag.hash)
      append(varint: UInt64(hash.count))
      for (field, value) in hash {
        append(field.bytes)
        append(value)
      }
    case .set(let set):
      append(ValueTag.set)
      append(varint: UInt64(set.count))
      // In their order, which SPOP depends on.
      for member in set.members { append(member.bytes) }
    case .sorted(let set):
      append(ValueTag.sorted)
      append(varint: UInt64(set.elements.count))
      set.elements.forEach(in: 0..<set.elements.count) { element in
        append(element.member.bytes)
        append(element.score)
      }
    }
  }
}

extension RecordDecoder {
  /// Reads how many elements follow. Each has a byte or more, so a wrong number is refused before memory is reserved for it.
  fileprivate mutating func readCount() throws(MalformedRecord) -> Int {
    let count = try readVarint()
    guard count <= UInt64(remainingCount) else { throw MalformedRecord() }
    return Int(count)
  }

  fileprivate mutating func readValue() throws(MalformedRecord) -> Keyspace.Value {
    switch try read(UInt8.self) {
    case ValueTag.string: return .string(Bytes(try readBytes()))
    case ValueTag.list:
      var list = ListValue()
      for _ in 0..<(try readCount()) { list.pushBack(try readBytes()) }
      return .list(list)
    case ValueTag.hash:
      var hash: [Key: [UInt8]] = [:]
      for _ in 0..<(try readCount()) {
        let field = Key(Bytes(try readBytes()))
        hash[field] = try readBytes()
      }
      return .hash(hash)
    case ValueTag.set:
      var set = SetValue()
      for _ in 0..<(try readCount()) { _ = set.insert(Key(Bytes(try readBytes()))) }
      return .set(set)
    case ValueTag.sorted:
      var set = SortedSet()
      for _ in 0..<(try readCount()) {
        let member = Key(Bytes(try readBytes()))
        // In their order, so that each one is added at the end, and fills a chunk.
        _ = set.update(member, to: try readDouble())
      }
      return .sorted(set)
    default: throw MalformedRecord()
    }
  }
}
