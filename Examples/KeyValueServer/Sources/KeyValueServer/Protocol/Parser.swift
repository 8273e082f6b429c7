/// Reads commands of the Redis protocol out of the bytes of a connection: arrays of bulk strings, or words on a line.
struct Parser {
  enum Outcome {
    /// A command was appended to the request.
    case command
    /// The words of a line, which is a command.
    case words([[UInt8]])
    /// The end of the command has not been received yet.
    case incomplete
    /// An empty line or array, which is no command.
    case nothing
    /// The client does not speak the protocol: it gets this error, and is disconnected.
    case failed([UInt8])

    fileprivate static func failed(saying text: String) -> Self { .failed(Array(text.utf8)) }
  }

  /// What is known of a command whose end has not been received, so that no byte is parsed again when more has come.
  struct Partial {
    /// Where parsing goes on.
    struct Place {
      /// How many arguments are missing; 0 if that is not known.
      var missing = 0
      /// Where the next part begins: the line with the length of an argument, or its bytes.
      var next = 0
      /// The length of the argument at `next`; nil if its line has not been read.
      var length: Int?
      /// Up to where there is no end of the line that is being read.
      var searched = 0
    }

    /// All positions are relative to the first byte of the command.
    fileprivate var place = Place()
    fileprivate var arguments: [Request.Slice] = []

    /// How long the command is up to the end of the argument that is being received; nil if that is not known.
    var knownSize: Int? { place.length.map { place.next + $0 + 2 } }

    /// How much memory it takes, in bytes.
    var size: Int { arguments.count * MemoryLayout<Request.Slice>.stride }
  }

  static let longestLine = 64 << 10
  static let mostArguments = 1 << 20
  /// The largest argument, in bytes.
  var longestArgument: Int

  /// Reads one command at `position`, and moves that behind it.
  ///
  /// - Parameters:
  ///   - start: What is to become the first byte of the request.
  ///   - partial: What an earlier call has found at `position`. It is kept if the command is incomplete, and empty otherwise.
  func parse(
    _ input: Span<UInt8>, from start: Int, at position: inout Int, into arguments: inout [Request.Slice],
    resuming partial: inout Partial
  ) -> Outcome {
    guard position < input.count else { return .incomplete }
    if input[position] != UInt8(ascii: "*") {
      return parseLine(input, at: &position, &partial.place)
    }
    if partial.place.missing > 0 {
      return resume(input, from: start, at: &position, into: &arguments, &partial)
    }
    var place = Partial.Place(next: position + 1, searched: position + partial.place.searched)
    let count: Int
    switch parseLength(input, &place) {
    case .length(let length): count = length
    case .incomplete where input.count - position > Self.longestLine:
      return .failed(saying: "too big mbulk count string")
    case .incomplete:
      partial.place.searched = place.searched - position
      return .incomplete
    case .invalid: return .failed(saying: "invalid multibulk length")
    }
    partial.place.searched = 0
    if count > Self.mostArguments { return .failed(saying: "invalid multibulk length") }
    if count <= 0 {
      position = place.next
      return .nothing
    }
    place.missing = count
    let before = arguments.count
    let outcome = parseArguments(input, from: start, &place, into: &arguments)
    if case .command = outcome {
      position = place.next
    } else {
      partial.place = place.moved(by: -position)
      partial.arguments = arguments[before...].map { $0.moved(by: start - position) }
      arguments.removeLast(arguments.count - before)
    }
    return outcome
  }

  /// Goes on with a command of which a part is known.
  private func resume(
    _ input: Span<UInt8>, from start: Int, at position: inout Int, into arguments: inout [Request.Slice],
    _ partial: inout Partial
  ) -> Outcome {
    var place = partial.place.moved(by: position)
    let outcome = parseArguments(input, from: position, &place, into: &partial.arguments)
    if case .command = outcome {
      for argument in partial.arguments { arguments.append(argument.moved(by: position - start)) }
      position = place.next
      partial = Partial()
    } else {
      partial.place = place.moved(by: -position)
    }
    return outcome
  }

  /// Reads the missing arguments.
  private func parseArguments(
    _ input: Span<UInt8>, from start: Int, _ place: inout Partial.Place, into arguments: inout [Request.Slice]
  ) -> Outcome {
    while place.missing > 0 {
      let length: Int
      if let known = place.length {
        length = known
      } else {
        let line = place.next
        guard line < input.count else { return .incomplete }
        place.next += 1
        switch input[line] == 0 ? .incomplete : parseLength(input, &place) {
        case .incomplete:
          place.next = line
          return input.count - line > Self.longestLine
            ? .failed(saying: "too big bulk count string") : .incomplete
        case _ where input[line] != UInt8(ascii: "$"):
          return .failed(Array("expected '$', got '".utf8) + [input[line]] + Array("'".utf8))
        case .length(let found) where found >= 0 && found <= longestArgument: length = found
        default: return .failed(saying: "invalid bulk length")
        }
      }
      guard place.next + length + 2 <= input.count else {
        place.length = length
        return .incomplete
      }
      arguments.append(Request.Slice(start: place.next - start, count: length))
      place.next += length + 2
      place.length = nil
      place.missing -= 1
    }
    return .command
  }

  private enum Length {
    case length(Int)
    case incomplete
    case invalid
  }

  /// Reads a number and the end of its line at `place.next`, and moves that behind it. A line with a NUL does not end, as in Redis.
  private func parseLength(_ input: Span<UInt8>, _ place: inout Partial.Place) -> Length {
    let first = place.next
    var end = max(first, place.searched)
    while end < input.count, input[end] != 13, input[end] != 0 { end += 1 }
    guard end + 1 < input.count, input[end] == 13 else {
      place.searched = end
      return .incomplete
    }
    place.next = end + 2
    let isNegative = input[first] == UInt8(ascii: "-")
    let digits = isNegative ? first + 1 : first
    // One form of each number, as Redis has it: no sign "+", and no zeros before it.
    guard digits < end, end - digits <= 18 else { return .invalid }
    if input[digits] == 48, end - digits > 1 || isNegative { return .invalid }
    var value = 0
    for index in digits..<end {
      let byte = input[index]
      guard byte >= 48, byte <= 57 else { return .invalid }
      value = value * 10 + Int(byte) - 48
    }
    return .length(isNegative ? -value : value)
  }

  /// Reads words on a line. A line with a NUL does not end, as in Redis.
  private func parseLine(_ input: Span<UInt8>, at position: inout Int, _ place: inout Partial.Place)
    -> Outcome
  {
    var end = position + place.searched
    while end < input.count, input[end] != 10, input[end] != 0 { end += 1 }
    guard end < input.count, input[end] == 10 else {
      place.searched = end - position
      return input.count - position > Self.longestLine
        ? .failed(saying: "too big inline request") : .incomplete
    }
    place.searched = 0
    var line = InlineCommand((position..<end).map { input[$0] })
    position = end + 1
    guard let words = line.words() else { return .failed(saying: "unbalanced quotes in request") }
    return words.isEmpty ? .nothing : .words(words)
  }
}

extension Parser.Partial.Place {
  fileprivate func moved(by distance: Int) -> Self {
    var place = self
    place.next += distance
    place.searched += distance
    return place
  }
}

extension Request.Slice {
  fileprivate func moved(by distance: Int) -> Self { Self(start: start + distance, count: count) }
}
