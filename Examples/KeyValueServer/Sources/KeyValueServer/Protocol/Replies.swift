import Glibc

/// The replies of the Redis protocol, appended to the output of a connection. What RESP3 spells otherwise is told its version.
extension [UInt8] {
  mutating func appendOK() { append(contentsOf: "+OK\r\n".utf8) }
  mutating func appendQueued() { append(contentsOf: "+QUEUED\r\n".utf8) }
  mutating func appendSimple(_ text: StaticString) {
    append(UInt8(ascii: "+"))
    text.withUTF8Buffer { append(contentsOf: $0) }
    appendEnd()
  }

  /// An error: its code, such as "ERR", and a sentence.
  mutating func appendError(_ text: String) { appendError(text.utf8) }

  mutating func appendError(_ text: some Sequence<UInt8>) {
    append(UInt8(ascii: "-"))
    // A line of the protocol must stay one.
    append(contentsOf: text.lazy.map { $0 == 13 || $0 == 10 ? 32 : $0 })
    appendEnd()
  }

  mutating func appendInteger(_ value: Int) { appendNumber(":", value) }

  /// The number of elements that follow.
  mutating func appendArray(_ count: Int) { appendNumber("*", count) }

  /// The number of pairs that follow: a map in RESP3, an array of twice as many in RESP2.
  mutating func appendMap(_ count: Int, _ version: Int) {
    if version >= 3 { appendNumber("%", count) } else { appendNumber("*", count * 2) }
  }

  /// The number of elements of something that the client did not ask for.
  mutating func appendPush(_ count: Int, _ version: Int) {
    appendPushMark(version)
    appendDecimal(count)
    appendEnd()
  }

  mutating func appendPushMark(_ version: Int) { append(UInt8(ascii: version >= 3 ? ">" : "*")) }

  mutating func appendBulk(_ bytes: some Collection<UInt8>) {
    appendNumber("$", bytes.count)
    append(contentsOf: bytes)
    appendEnd()
  }

  mutating func appendBulk(_ text: String) { appendBulk(text.utf8) }
  mutating func appendBulk(_ bytes: Bytes) { bytes.withUnsafeBytes { appendBulk($0) } }

  /// A text for people, which RESP3 marks as such.
  mutating func appendText(_ text: String, _ version: Int) {
    if version < 3 { return appendBulk(text) }
    appendNumber("=", text.utf8.count + 4)
    append(contentsOf: "txt:".utf8)
    append(contentsOf: text.utf8)
    appendEnd()
  }

  mutating func appendNull(_ version: Int) {
    append(contentsOf: (version >= 3 ? "_\r\n" : "$-1\r\n").utf8)
  }

  /// No array, as RESP2 distinguishes it from no string.
  mutating func appendNullArray(_ version: Int) {
    append(contentsOf: (version >= 3 ? "_\r\n" : "*-1\r\n").utf8)
  }

  mutating func appendScore(_ score: Double, _ version: Int) {
    if version >= 3 {
      append(UInt8(ascii: ","))
      append(contentsOf: score.redisText.utf8)
      appendEnd()
    } else {
      appendBulk(score.redisText)
    }
  }

  private mutating func appendNumber(_ mark: Unicode.Scalar, _ value: Int) {
    append(UInt8(ascii: mark))
    appendDecimal(value)
    appendEnd()
  }

  mutating func appendDecimal(_ value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    let magnitude = value.magnitude
    if magnitude < 10 { return append(UInt8(48 + magnitude)) }
    var divisor: UInt = 10
    while divisor <= magnitude / 10 { divisor *= 10 }
    var rest = magnitude
    while divisor > 0 {
      append(UInt8(48 + rest / divisor))
      rest %= divisor
      divisor /= 10
    }
  }

  mutating func appendEnd() {
    append(13)
    append(10)
  }
}

extension Double {
  /// As Redis 7.0 writes it: an integer without a point, and otherwise 17 digits, which are enough to read the same number again.
  var redisText: String {
    if isInfinite { return self < 0 ? "-inf" : "inf" }
    if self == 0 { return sign == .minus ? "-0" : "0" }
    if self == rounded(), magnitude < 1e17 { return String(Int(self)) }
    var text = [CChar](repeating: 0, count: 32)
    let length = withVaList([self]) { vsnprintf(&text, text.count, "%.17g", $0) }
    return String(decoding: text[..<Int(length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// The sentences of Redis for what more than one command refuses.
enum Refusal {
  static let wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"
  static let notAnInteger = "ERR value is not an integer or out of range"
  static let notAFloat = "ERR value is not a valid float"
  static let syntax = "ERR syntax error"
  static func wrongCount(_ name: String) -> String { "ERR wrong number of arguments for '\(name)' command" }
}
