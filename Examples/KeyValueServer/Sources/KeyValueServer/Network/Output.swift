/// The bytes for a client that its socket has not taken yet.
struct Output {
  /// Those, behind some that were sent; empty once all of them were.
  var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }
  var isEmpty: Bool { bytes.isEmpty }

  /// Sends what the socket takes; returns false if it is broken.
  mutating func send(to descriptor: Int32) -> Bool {
    guard let count = Socket.send(bytes, from: start, to: descriptor) else { return false }
    start += count
    if start == bytes.count {
      bytes.removeAllKeepingLittle()
      start = 0
    } else if start >= bytes.count - start {
      // Moves what was not sent to the front, once it is no more than what was: so a client that never reads all of it does not
      // make the output grow.
      bytes.removeSubrange(..<start)
      start = 0
    }
    return true
  }
}
