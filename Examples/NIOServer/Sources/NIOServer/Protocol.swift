import NIOCore

/// What a client asks for.
enum Command: Sendable {
  case ping
  case get(ByteBuffer)
  case set(ByteBuffer, ByteBuffer)
  case delete(ByteBuffer)
  case increment(ByteBuffer)
  /// A command that this server does not have, or with a wrong number of arguments: the text of the error.
  case invalid(String)

  /// The key that decides about the shard.
  var key: ByteBuffer? {
    switch self {
    case .get(let key), .set(let key, _), .delete(let key), .increment(let key): key
    case .ping, .invalid: nil
    }
  }

  init(_ arguments: [ByteBuffer]) {
    let name = arguments.first.map { Self.uppercased($0) } ?? ""
    switch (name, arguments.count) {
    case ("PING", 1): self = .ping
    case ("GET", 2): self = .get(arguments[1])
    case ("SET", 3): self = .set(arguments[1], arguments[2])
    case ("DEL", 2): self = .delete(arguments[1])
    case ("INCR", 2): self = .increment(arguments[1])
    case ("PING", _), ("GET", _), ("SET", _), ("DEL", _), ("INCR", _):
      self = .invalid("wrong number of arguments for '\(name.lowercased())' command")
    default: self = .invalid("unknown command '\(name.prefix(128))'")
    }
  }

  /// Letters of ASCII only, as Redis compares them: Unicode has others whose upper case is one of these.
  private static func uppercased(_ name: ByteBuffer) -> String {
    String(decoding: name.readableBytesView.map { (97...122).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
  }
}

/// What the client gets.
enum Answer: Sendable {
  case text(StaticString)
  case value(ByteBuffer?)
  case integer(Int)
  case error(String)

  func write(to buffer: inout ByteBuffer) {
    switch self {
    case .text(let text):
      buffer.writeStaticString("+")
      buffer.writeStaticString(text)
    case .value(let value?):
      buffer.writeString("$\(value.readableBytes)\r\n")
      buffer.writeImmutableBuffer(value)
    case .value(nil): buffer.writeStaticString("$-1")
    case .integer(let number): buffer.writeString(":\(number)")
    case .error(let text):
      // The text may have what the client has sent, and must stay one line.
      buffer.writeString("-ERR ")
      buffer.writeBytes(text.utf8.lazy.map { $0 == 13 || $0 == 10 ? 32 : $0 })
    }
    buffer.writeStaticString("\r\n")
  }
}

/// Takes commands of the Redis protocol out of what was received: arrays of bulk strings.
struct CommandDecoder: NIOSingleStepByteToMessageDecoder {
  typealias InboundOut = Command

  struct Malformed: Error { let reason: String }

  static let mostArguments = 1024
  static let longestArgument = 1 << 20

  func decode(buffer: inout ByteBuffer) throws -> Command? {
    // Nothing of a command is taken out of the buffer before all of it is there.
    var rest = buffer
    var count = 0
    while count <= 0 {
      // An array without elements is no command, as in Redis.
      buffer = rest
      guard let next = try Self.readNumber(&rest, after: "*", in: .min...Self.mostArguments) else {
        return nil
      }
      count = next
    }
    var arguments: [ByteBuffer] = []
    for _ in 0..<count {
      guard let length = try Self.readNumber(&rest, after: "$", in: 0...Self.longestArgument) else {
        return nil
      }
      guard rest.readableBytes >= length + 2, let argument = rest.readSlice(length: length) else {
        return nil
      }
      rest.moveReaderIndex(forwardBy: 2)
      arguments.append(argument)
    }
    buffer = rest
    return Command(arguments)
  }

  func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> Command? { try decode(buffer: &buffer) }

  /// Reads a line that consists of a mark and a number; returns nil if its end has not come.
  private static func readNumber(
    _ buffer: inout ByteBuffer, after mark: Character, in range: ClosedRange<Int>
  ) throws -> Int? {
    let view = buffer.readableBytesView
    guard let end = view.firstIndex(of: UInt8(ascii: "\n")) else {
      if view.count > 32 { throw Malformed(reason: "expected '\(mark)' and a number") }
      return nil
    }
    let line = String(decoding: view[..<end], as: UTF8.self)
    guard line.first == mark, line.hasSuffix("\r"), let number = Int(line.dropFirst().dropLast()) else {
      throw Malformed(reason: "expected '\(mark)' and a number")
    }
    guard range.contains(number) else { throw Malformed(reason: "invalid length") }
    buffer.moveReaderIndex(to: end + 1)
    return number
  }
}
