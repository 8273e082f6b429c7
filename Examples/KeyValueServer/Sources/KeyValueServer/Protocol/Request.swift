import Glibc

/// Commands as they were received, and where their arguments are. Copied by reference: the shards only read it.
struct Request: Sendable {
  /// Where an argument is in `bytes`.
  struct Slice: Sendable {
    let start: Int
    let count: Int
  }

  var bytes: [UInt8] = []
  var arguments: [Slice] = []
  /// The time at which the command was received, in milliseconds since 1970. What a shard does depends on this and not on a
  /// clock.
  var now: Int64 = 0
  /// The number of the client.
  var client = 0

  /// The first bytes of an argument, for an error: up to a NUL, as those of a C string.
  func beginning(of argument: Int, upTo most: Int = 128) -> ArraySlice<UInt8> {
    let slice = arguments[argument]
    return bytes[slice.start..<(slice.start + min(slice.count, most))].prefix { $0 != 0 }
  }
}

/// One command for one shard, or for the connection itself: where its arguments are in a ``Request``.
struct Command: Sendable {
  let code: CommandCode
  /// The version of the protocol that the client spoke when it sent this: 2 or 3.
  let version: UInt8
  /// The index of its name in the arguments of the request; the others follow.
  let first: Int
  /// How many arguments it has, with its name.
  let count: Int

  init(_ code: CommandCode, first: Int, count: Int, version: Int = 2) {
    (self.code, self.version) = (code, UInt8(version))
    (self.first, self.count) = (first, count)
  }

  /// The indices of what a journal needs of it. What precedes the key is the name, or what stands where a name would: nothing reads it.
  var recorded: Range<Int> { (code == .msetOne ? first : first + 1)..<(first + count) }
}

/// A command with its request: how code that runs it reads its arguments.
struct Invocation {
  /// While an invocation exists, appending to the request of the batch copies all of it.
  let request: Request
  let command: Command

  var code: CommandCode { command.code }
  var count: Int { command.count }
  var now: Int64 { request.now }
  var version: Int { Int(command.version) }

  /// Where an argument is in the request; 0 is the name.
  func slice(_ index: Int) -> Request.Slice { request.arguments[command.first + index] }

  /// The bytes of an argument.
  func bytes(_ index: Int) -> [UInt8] {
    let slice = slice(index)
    return Array(request.bytes[slice.start..<(slice.start + slice.count)])
  }

  /// The bytes of an argument, for a table that has them.
  func value(_ index: Int) -> Bytes {
    let slice = slice(index)
    return request.bytes.withUnsafeBytes {
      Bytes(UnsafeRawBufferPointer(rebasing: $0[slice.start..<(slice.start + slice.count)]))
    }
  }

  func key(_ index: Int) -> Key { Key(value(index)) }

  /// An argument as a word of the protocol, in upper case; empty if it is longer than any of these words, or not ASCII. So an argument
  /// of any size costs nothing where a word is expected.
  func word(_ index: Int) -> String {
    let slice = slice(index)
    if slice.count > 16 { return "" }
    let bytes = request.bytes[slice.start..<(slice.start + slice.count)]
    if bytes.contains(where: { $0 >= 128 }) { return "" }
    // Letters of ASCII only, as Redis compares them: Unicode has others whose upper case is one of these.
    return String(decoding: bytes.map { (97...122).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
  }

  /// The first bytes of an argument, for an error.
  func beginning(_ index: Int) -> ArraySlice<UInt8> { request.beginning(of: command.first + index) }

  /// An argument as a pattern for names, in lower case; nil if it is so long that nobody has written it for one.
  func pattern(_ index: Int) -> String? {
    if slice(index).count > 64 { return nil }
    return String(decoding: bytes(index).map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }

  /// An argument as an integer, in the only form that Redis accepts.
  func integer(_ index: Int) -> Int? {
    // None is longer, so what is need not be copied.
    slice(index).count > 20 ? nil : Int(decimal: bytes(index))
  }

  /// An argument as a number, as Redis reads it: infinities count if they are spelled out, other words do not, nor does what is too
  /// large or too small.
  func double(_ index: Int) -> Double? {
    var text = bytes(index).map { CChar(bitPattern: $0) }
    guard let first = text.first, !isBlank(first), !text.contains(0) else { return nil }
    text.append(0)
    return text.withUnsafeBufferPointer { text in
      var end: UnsafeMutablePointer<CChar>?
      errno = 0
      let value = strtod(text.baseAddress!, &end)
      let isOutOfRange = errno == ERANGE && (value.isInfinite || value.isZero)
      let isWhole = end.map { $0 - UnsafeMutablePointer(mutating: text.baseAddress!) } == text.count - 1
      return isWhole && !isOutOfRange && !value.isNaN ? value : nil
    }
  }

  private func isBlank(_ character: CChar) -> Bool { character == 32 || (9...13).contains(character) }
}

extension Int {
  /// The integer that these digits are; nil for a sign "+", spaces, leading zeros, and what is too large.
  init?(decimal digits: [UInt8]) {
    guard let value = digits.withUnsafeBytes({ Int(decimal: $0) }) else { return nil }
    self = value
  }

  init?(decimal digits: UnsafeRawBufferPointer) {
    var index = 0
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { index = 1 }
    guard index < digits.count, digits.count <= 20 else { return nil }
    if digits[index] == UInt8(ascii: "0"), digits.count > 1 { return nil }
    // Downwards, since the smallest has no counterpart.
    var value = 0
    while index < digits.count {
      let digit = Int(digits[index]) - 48
      guard (0...9).contains(digit) else { return nil }
      let (shifted, overflows) = value.multipliedReportingOverflow(by: 10)
      let (next, exceeds) = shifted.subtractingReportingOverflow(digit)
      if overflows || exceeds { return nil }
      value = next
      index += 1
    }
    if isNegative {
      self = value
    } else {
      if value == .min { return nil }
      self = -value
    }
  }
}
