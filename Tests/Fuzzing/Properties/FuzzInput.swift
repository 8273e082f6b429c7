/// A byte string that is read as a list of choices. Any byte string is one: what is missing at the end is 0.
struct FuzzInput {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position >= bytes.count }

  mutating func byte() -> UInt8 {
    defer { position += 1 }
    return isAtEnd ? 0 : bytes[position]
  }

  /// A number from 0 to `limit` - 1.
  mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

  /// One of them.
  mutating func choice<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }
}
