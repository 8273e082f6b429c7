/// What one reader has seen: how many states, and whether each was whole and none older than the one before.
struct ReaderNotes: Sendable {
  private(set) var reads = 0
  private(set) var torn = 0
  private(set) var older = 0
  /// The count of the last state.
  private(set) var last: UInt64 = 0

  @inline(__always)
  mutating func note(_ state: ReadState) {
    reads &+= 1
    if !state.isWhole { torn &+= 1 }
    if state.count < last { older &+= 1 }
    last = state.count
  }

  /// - Parameters:
  ///   - count: of the owner's last state.
  ///   - isAtRest: whether there was no other state.
  func check(upTo count: UInt64, isAtRest: Bool) throws {
    if torn > 0 { throw SubjectFailure("\(torn) of \(reads) states that were read were torn") }
    if older > 0 { throw SubjectFailure("\(older) of \(reads) states were older than what was read before") }
    if last > count || (isAtRest && reads > 0 && last != count) {
      throw SubjectFailure("state \(last) was read, and the owner's last is \(count)")
    }
  }
}
