/// The bytes that were received from a client and are in no batch yet.
struct Input {
  var bytes: [UInt8] = []
  /// Where the next batch begins.
  private var start = 0
  /// What is known of the command at `start`.
  private var partial = Parser.Partial()

  var isEmpty: Bool { start == bytes.count }
  /// How much memory they take, with what is known of a command without its end.
  var size: Int { bytes.count - start + partial.size }

  /// Moves the beginning of a command to the front, once what was parsed before it is at least as much: so each byte is
  /// moved about once, and a client that never stops does not make the input grow.
  mutating func dropParsed() {
    guard start > 0, start >= bytes.count - start else { return }
    bytes.removeSubrange(..<start)
    start = 0
  }

  /// Parses what is there into a batch.
  ///
  /// - Parameter transaction: As ``Batch/parse(_:from:at:_:resuming:transaction:)`` has it.
  /// - Returns: Whether anything was whole, and what is wrong with what follows, if it is.
  mutating func parse(into batch: inout Batch, by parser: Parser, transaction: Int) -> (
    isWhole: Bool, failure: [UInt8]?
  ) {
    var position = start
    // Taken out, since the bytes of this structure are read while it changes.
    var known = Parser.Partial()
    swap(&known, &partial)
    let failure = batch.parse(
      bytes.span, from: start, at: &position, parser, resuming: &known, transaction: transaction)
    swap(&known, &partial)
    if position == start, failure == nil {
      // A long argument gets its memory at once; a very long one, of which perhaps nothing comes, as the array grows.
      if let size = partial.knownSize, size > 2 * bytes.count {
        bytes.reserveCapacity(start + min(size, 16 << 20))
      }
      return (false, nil)
    }
    if start == 0, position == bytes.count {
      swap(&bytes, &batch.request.bytes)
      bytes.removeAllKeepingLittle()
    } else {
      batch.request.bytes.append(contentsOf: bytes[start..<position])
      start = position
      if isEmpty {
        bytes.removeAllKeepingLittle()
        start = 0
      }
    }
    return (true, failure)
  }
}
