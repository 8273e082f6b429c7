/// Where the entry of an object is looked for.
enum AttachmentHash {
  static var shardBits: UInt64 { 4 }
  static var shardCount: Int { 1 << Int(shardBits) }

  /// Addresses differ in the bits between the allocator's alignment and the size of the heap; shard and slot
  /// come from the upper bits of the hash, which depend on all of those. No two addresses have the same hash.
  @inline(__always)
  static func hash(_ identity: ObjectIdentifier) -> UInt64 {
    var hash = UInt64(UInt(bitPattern: identity)) &* 0x9e37_79b9_7f4a_7c15
    hash ^= hash &>> 32
    return hash &* 0xd6e8_feb8_6659_fd93
  }

  @inline(__always)
  static func shard(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> (64 &- shardBits)) }
}
