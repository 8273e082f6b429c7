/// The number behind a key, from which a group finds the key's loop.
///
/// Swift's own hash values differ between processes. For integers, strings, and what is represented by them,
/// this one does not.
enum LoopKey {
  static func hash(of key: some Hashable) -> UInt64 {
    var key: any Hashable = key
    if let erased = key as? AnyHashable, let base = erased.base as? any Hashable { key = base }
    return stableHash(of: key) ?? spread(UInt64(truncatingIfNeeded: key.hashValue))
  }

  private static func stableHash(of key: any Hashable) -> UInt64? {
    switch key {
    case let integer as any BinaryInteger: hash(ofInteger: integer)
    case let string as any StringProtocol: hash(ofBytes: String(string).utf8)
    case let value as any RawRepresentable: hash(ofRawValue: value)
    default: nil
    }
  }

  private static func hash(ofRawValue value: some RawRepresentable) -> UInt64? {
    (value.rawValue as? any Hashable).flatMap { stableHash(of: $0) }
  }

  /// By its value, of whatever width it is.
  private static func hash(ofInteger integer: some BinaryInteger) -> UInt64 {
    if let small = Int64(exactly: integer) { return spread(UInt64(bitPattern: small)) }
    if let large = UInt64(exactly: integer) { return spread(large) }
    return hash(ofBytes: String(integer).utf8)
  }

  /// FNV-1a, then spread, since its high bits depend little on the last bytes.
  private static func hash(ofBytes bytes: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return spread(hash)
  }

  /// SplitMix64's last step: each bit of the number decides on each of the result.
  private static func spread(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
