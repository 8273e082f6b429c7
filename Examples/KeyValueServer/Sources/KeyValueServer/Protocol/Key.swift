/// A key, a field or a member: bytes, and their hash, so that a table compares the bytes of the key it looks for only. Those of others
/// may be elsewhere in memory, and each look at them would be a wait for that memory.
struct Key: Sendable {
  let bytes: Bytes
  private let hash: Int

  /// Bits that depend on all bytes, another way in each process.
  var bits: Int { hash }

  init(_ bytes: Bytes) {
    self.bytes = bytes
    // Not with the seed of a table: but with that of the process, so nobody can choose keys that collide.
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    hash = hasher.finalize()
  }
}

extension Key: Hashable {
  func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  static func == (one: Key, other: Key) -> Bool { one.hash == other.hash && one.bytes == other.bytes }
}

extension Key: Comparable {
  /// By the bytes, as Redis orders members of equal scores.
  static func < (one: Key, other: Key) -> Bool { one.bytes < other.bytes }
}
