/// The order in which one of several threads visits the members of a large population. Together, the threads visit each
/// member once per round. In each round another thread visits a member, and no thread visits neighbours in a row.
package struct VisitingOrder: Sequence, Sendable {
  private static let prime = 1_000_003

  private let count: Int
  private let threads: Int
  private let thread: Int
  private let rounds: Range<Int>

  /// - Parameter threads: May be more than `count`: then some have nothing to visit in a round.
  package init(count: Int, threads: Int, thread: Int, rounds: Int) {
    self.init(count: count, threads: threads, thread: thread, rounds: 0..<rounds)
  }

  /// The rounds with these numbers.
  package init(count: Int, threads: Int, thread: Int, rounds: Range<Int>) {
    self.count = count
    self.threads = threads
    self.thread = thread
    self.rounds = rounds
  }

  package struct Iterator: IteratorProtocol {
    private let order: VisitingOrder
    private var round: Int
    private var segment: Range<Int> = 0..<0
    private var step = 0
    private var left = 0
    private var offset = 0

    fileprivate init(_ order: VisitingOrder) {
      self.order = order
      round = order.rounds.lowerBound - 1
    }

    package mutating func next() -> (index: Int, round: Int)? {
      if left == 0, !beginRound() { return nil }
      left -= 1
      offset += step
      if offset >= segment.count { offset -= segment.count }
      return (segment.lowerBound + offset, round)
    }

    private mutating func beginRound() -> Bool {
      repeat {
        round += 1
        if round >= order.rounds.upperBound { return false }
        segment = order.segment((order.thread + round) % order.threads)
      } while segment.isEmpty
      step = order.step(segment.count)
      (left, offset) = (segment.count, round % segment.count)
      return true
    }
  }

  package func makeIterator() -> Iterator { Iterator(self) }

  private func segment(_ number: Int) -> Range<Int> {
    number * count / threads..<(number + 1) * count / threads
  }

  /// A step that has no divisor in common with the length reaches every member.
  private func step(_ length: Int) -> Int { length % Self.prime == 0 ? 1 : Self.prime % length }
}
