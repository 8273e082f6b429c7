/// A reactor's state: a digest of what was reduced, in which order, in three numbers.
struct Digest: Equatable, Sendable, CustomStringConvertible {
  private(set) var count = 0
  private(set) var last = 0
  private var checksum = 0

  mutating func append(_ mutation: Int) {
    count += 1
    last = mutation
    checksum = checksum &* 31 &+ mutation
  }

  var description: String { "\(count) mutations, the last of which is \(last) (checksum \(checksum))" }
}
