import Glibc

/// Some bytes. Up to 21 are here, and so in the table that has them: a look at them is no wait for another place in memory, and they
/// take no allocation. More are in an array.
enum Bytes: Sendable {
  /// The last byte says how many there are; behind them are zeros.
  typealias Short = (UInt64, UInt64, UInt32, UInt8, count: UInt8)

  case short(Short)
  case long([UInt8])

  private static let mostShort = 21

  init() { self = .short((0, 0, 0, 0, 0)) }

  init(_ bytes: UnsafeRawBufferPointer) {
    if bytes.count > Self.mostShort {
      self = .long(Array(bytes))
    } else {
      var short: Short = (0, 0, 0, 0, UInt8(bytes.count))
      withUnsafeMutableBytes(of: &short) { $0.copyMemory(from: bytes) }
      self = .short(short)
    }
  }

  init(_ bytes: [UInt8]) {
    self = bytes.count > Self.mostShort ? .long(bytes) : bytes.withUnsafeBytes { Bytes($0) }
  }

  var count: Int {
    switch self {
    case .short(let short): Int(short.count)
    case .long(let bytes): bytes.count
    }
  }

  /// A copy, if there are few of them.
  var array: [UInt8] {
    if case .long(let bytes) = self { return bytes }
    return withUnsafeBytes { Array($0) }
  }

  /// Calls `body` with the bytes, without a copy of them.
  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    switch self {
    case .short(let short):
      Swift.withUnsafeBytes(of: short) {
        body(UnsafeRawBufferPointer(rebasing: $0[..<Int(short.count)]))
      }
    case .long(let bytes): bytes.withUnsafeBytes(body)
    }
  }
}

extension Bytes {
  /// Many bytes are not copied, if nothing else refers to them.
  mutating func append(_ addition: [UInt8]) {
    guard case .long(var bytes) = self else {
      self = Bytes(array + addition)
      return
    }
    self = Bytes()
    bytes.append(contentsOf: addition)
    self = .long(bytes)
  }
}

extension Bytes: Equatable {
  static func == (one: Bytes, other: Bytes) -> Bool {
    switch (one, other) {
    case (.short(let one), .short(let other)): one == other
    case (.long(let one), .long(let other)):
      one.count == other.count && memcmp(one, other, one.count) == 0
    default: false
    }
  }
}

extension Bytes: Comparable {
  /// By the first byte that differs, and what is a beginning of the other one first.
  static func < (one: Bytes, other: Bytes) -> Bool {
    one.withUnsafeBytes { one in
      other.withUnsafeBytes { other in
        let common = min(one.count, other.count)
        // An empty buffer may have no address.
        let order = common == 0 ? 0 : memcmp(one.baseAddress!, other.baseAddress!, common)
        return order != 0 ? order < 0 : one.count < other.count
      }
    }
  }
}
