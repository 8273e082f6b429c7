/// The order in which one of several threads visits the members of a large population. Together, the threads visit each
/// member once per round. In each round another thread visits a member, and two visits of a thread in a row are far apart, so
/// that no cache line, page or prefetcher has brought the second one already.
///
/// Round 0, which makes members or allocates what they need for their first action, visits them in the order of their numbers.
/// In the order of the later rounds, the allocator would put next to each other what is visited one after the other.
package struct VisitingOrder: Sequence, Sendable {
  /// The members of one thread in one round.
  private struct Segment: Sendable {
    let first: Int
    let count: Int
    let step: Int
    /// How many rounds after this one the thread has the next segment: those in between have no members.
    let rounds: Int
  }

  /// Those with members, in the order in which a thread has them.
  private let segments: [Segment]
  /// The first segment of this thread, and its round.
  private let first: (segment: Int, round: Int)
  private let end: Int

  /// - Parameter threads: May be more than `count`: then some have nothing to visit in a round.
  package init(count: Int, threads: Int, thread: Int, rounds: Int) {
    self.init(count: count, threads: threads, thread: thread, rounds: 0..<rounds)
  }

  /// The rounds with these numbers. All divisions are made here, which is to be outside of what is timed.
  package init(count: Int, threads: Int, thread: Int, rounds: Range<Int>) {
    let numbers = (0..<threads).filter { !Self.range($0, of: threads, count).isEmpty }
    segments = numbers.indices.map { index in
      let range = Self.range(numbers[index], of: threads, count)
      let next = index + 1 < numbers.count ? numbers[index + 1] : (numbers.first ?? 0) + threads
      return Segment(
        first: range.lowerBound, count: range.count, step: Self.step(range.count),
        rounds: next - numbers[index])
    }
    end = rounds.upperBound
    // In each round a thread has the segment after that of the round before.
    let number = (thread + rounds.lowerBound) % threads
    let segment = numbers.firstIndex { $0 >= number } ?? 0
    let distance = ((numbers.isEmpty ? 0 : numbers[segment]) - number + threads) % threads
    first = (segment, numbers.isEmpty ? end : rounds.lowerBound + distance)
  }

  package struct Iterator: IteratorProtocol {
    private let segments: [Segment]
    private let end: Int
    /// The number of the segment of the next round, and that round.
    private var coming: (segment: Int, round: Int)
    private var round = 0
    private var base = 0
    private var count = 0
    private var step = 0
    private var left = 0
    private var offset = 0
    /// Where the next segment is begun, so that a thread does not always begin with the same member.
    private var start = 0

    fileprivate init(_ order: VisitingOrder) {
      (segments, coming, end) = (order.segments, order.first, order.end)
    }

    package mutating func next() -> (index: Int, round: Int)? {
      if left == 0, !beginRound() { return nil }
      left -= 1
      offset += step
      if offset >= count { offset -= count }
      return (base + offset, round)
    }

    private mutating func beginRound() -> Bool {
      guard coming.round < end else { return false }
      let segment = segments[coming.segment]
      round = coming.round
      (base, count, left) = (segment.first, segment.count, segment.count)
      step = round == 0 ? 1 : segment.step
      if start >= count { start = 0 }
      offset = start
      start += 1
      coming.round += segment.rounds
      coming.segment += 1
      if coming.segment == segments.count { coming.segment = 0 }
      return true
    }
  }

  package func makeIterator() -> Iterator { Iterator(self) }

  private static func range(_ number: Int, of threads: Int, _ count: Int) -> Range<Int> {
    number * count / threads..<(number + 1) * count / threads
  }

  /// Near the golden section of the length, so that also the visits after the next one are far apart, and without a common
  /// divisor, so that every member is reached. At most the length, which is the step of a single member.
  static func step(_ length: Int) -> Int {
    let section = Int((Double(length) * 0.618_033_988_749_895).rounded())
    for distance in 0..<length {
      for step in [section - distance, section + distance]
      where step >= 1 && step <= length && greatestCommonDivisor(step, length) == 1 { return step }
    }
    return 1
  }

  private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
    var (larger, smaller) = (first, second)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return larger
  }
}
