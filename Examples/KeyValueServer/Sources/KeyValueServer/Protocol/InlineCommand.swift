/// A line with a command, as a person types it: words, and in quotation marks what is not a word.
///
/// In double quotation marks, `\n`, `\r`, `\t`, `\b`, `\a`, `\xff` and `\"` are what they are in C; in single ones, `\'` is. Quotation
/// marks may begin inside of a word, but it ends with them.
struct InlineCommand {
  private let line: [UInt8]
  private var place = 0

  init(_ line: [UInt8]) { self.line = line }

  /// Reads all words; returns nil if quotation marks are missing, or not followed by a space.
  mutating func words() -> [[UInt8]]? {
    var words: [[UInt8]] = []
    while true {
      while place < line.count, isSpace(line[place], outside: true) { place += 1 }
      if place == line.count { return words }
      guard let word = word() else { return nil }
      words.append(word)
    }
  }

  private mutating func word() -> [UInt8]? {
    var word: [UInt8] = []
    while place < line.count, !isSpace(line[place], outside: false) {
      let byte = line[place]
      place += 1
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        return readQuoted(until: byte, into: &word) ? word : nil
      }
      word.append(byte)
    }
    return word
  }

  private mutating func readQuoted(until mark: UInt8, into word: inout [UInt8]) -> Bool {
    while place < line.count {
      let byte = line[place]
      place += 1
      if byte == mark { return place == line.count || isSpace(line[place], outside: true) }
      if byte == UInt8(ascii: "\\"), place < line.count, mark == UInt8(ascii: "\"") || line[place] == mark {
        word.append(escaped())
      } else {
        word.append(byte)
      }
    }
    return false
  }

  /// Reads what follows a backslash.
  private mutating func escaped() -> UInt8 {
    if line[place] == UInt8(ascii: "x"), place + 2 < line.count, let high = digit(place + 1),
      let low = digit(place + 2)
    {
      place += 3
      return high << 4 | low
    }
    defer { place += 1 }
    return switch line[place] {
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "a"): 7
    default: line[place]
    }
  }

  private func digit(_ index: Int) -> UInt8? {
    Character(Unicode.Scalar(line[index])).hexDigitValue.map { UInt8($0) }
  }

  /// A vertical tab and a form feed are spaces between words, but do not end one. As in Redis.
  private func isSpace(_ byte: UInt8, outside: Bool) -> Bool {
    byte == 32 || byte == 9 || byte == 10 || byte == 13 || (outside && (byte == 11 || byte == 12))
  }
}
