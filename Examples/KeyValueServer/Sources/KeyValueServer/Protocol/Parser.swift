/// Reads commands of the Redis protocol out of the bytes of a connection: arrays of bulk strings, or words on a line.
struct Parser {
  enum Outcome: Equatable {
    /// A command was appended to the request.
    case command
    /// The end of the command has not been received yet.
    case incomplete
    /// An empty line or array, which is no command.
    case nothing
    /// The client does not speak the protocol: it gets this error, and is disconnected.
    case failed(String)
  }

  static let longestLine = 64 << 10
  static let mostArguments = 1 << 20
  /// The largest argument, in bytes.
  var longestArgument: Int

  /// Reads one command at `position`, and moves that behind it.
  ///
  /// - Parameter start: What is to become the first byte of the request.
  func parse(
    _ input: Span<UInt8>, from start: Int, at position: inout Int, into arguments: inout [Request.Slice]
  ) -> Outcome {
    guard position < input.count else { return .incomplete }
    if input[position] != UInt8(ascii: "*") {
      return parseLine(input, from: start, at: &position, into: &arguments)
    }
    var next = position + 1
    let count: Int
    switch parseLength(input, at: &next) {
    case .length(let length): count = length
    case .incomplete(let isTooLong): return isTooLong ? .failed("too big mbulk count string") : .incomplete
    case .invalid: return .failed("invalid multibulk length")
    }
    if count > Self.mostArguments { return .failed("invalid multibulk length") }
    if count <= 0 {
      position = next
      return .nothing
    }
    let before = arguments.count
    for _ in 0..<count {
      guard next < input.count else { return rollBack(&arguments, to: before) }
      if input[next] != UInt8(ascii: "$") {
        let found = Character(Unicode.Scalar(input[next]))
        return .failed("expected '$', got '\(found)'")
      }
      next += 1
      switch parseLength(input, at: &next) {
      case .length(let length) where length >= 0 && length <= longestArgument:
        guard next + length + 2 <= input.count else { return rollBack(&arguments, to: before) }
        arguments.append(Request.Slice(start: next - start, count: length))
        next += length + 2
      case .incomplete(let isTooLong):
        return isTooLong ? .failed("too big bulk count string") : rollBack(&arguments, to: before)
      default: return .failed("invalid bulk length")
      }
    }
    position = next
    return .command
  }

  private func rollBack(_ arguments: inout [Request.Slice], to count: Int) -> Outcome {
    arguments.removeLast(arguments.count - count)
    return .incomplete
  }

  private enum Length {
    case length(Int)
    case incomplete(isTooLong: Bool)
    case invalid
  }

  /// Reads a number and the end of its line.
  private func parseLength(_ input: Span<UInt8>, at position: inout Int) -> Length {
    var index = position
    var value = 0
    var isNegative = false
    while index < input.count {
      let byte = input[index]
      if byte == 13 {
        guard index + 1 < input.count else { return .incomplete(isTooLong: false) }
        if index == position { return .invalid }
        position = index + 2
        return .length(isNegative ? -value : value)
      }
      if byte == UInt8(ascii: "-"), index == position {
        isNegative = true
      } else if byte >= 48, byte <= 57, index - position < 18 {
        value = value * 10 + Int(byte) - 48
      } else {
        return .invalid
      }
      index += 1
    }
    return .incomplete(isTooLong: index - position > Self.longestLine)
  }

  /// Reads words on a line; one may be in quotation marks.
  private func parseLine(
    _ input: Span<UInt8>, from start: Int, at position: inout Int, into arguments: inout [Request.Slice]
  ) -> Outcome {
    var end = position
    while end < input.count, input[end] != 10 { end += 1 }
    guard end < input.count else {
      return end - position > Self.longestLine ? .failed("too big inline request") : .incomplete
    }
    defer { position = end + 1 }
    let before = arguments.count
    var index = position
    while index < end {
      let byte = input[index]
      if byte == 32 || byte == 9 || byte == 13 {
        index += 1
        continue
      }
      let quote: UInt8? = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") ? byte : nil
      let first = quote == nil ? index : index + 1
      index = first
      if let quote {
        while index < end, input[index] != quote { index += 1 }
        if index == end { return .failed("unbalanced quotes in request") }
      } else {
        while index < end, ![9, 13, 32].contains(input[index]) { index += 1 }
      }
      arguments.append(Request.Slice(start: first - start, count: index - first))
      if quote != nil { index += 1 }
    }
    return arguments.count == before ? .nothing : .command
  }
}
