import Testing

@testable import BenchmarkSupport

@Suite struct VisitingOrderTests {
  private func visits(_ count: Int, threads: Int, rounds: Int) -> [(thread: Int, index: Int, round: Int)] {
    (0..<threads).flatMap { thread in
      VisitingOrder(count: count, threads: threads, thread: thread, rounds: rounds).map {
        (thread, $0.index, $0.round)
      }
    }
  }

  @Test(arguments: [1, 7, 8, 9, 1000, 999_983])
  func `each round reaches every member once`(count: Int) {
    let rounds = count > 10_000 ? 1 : 10
    var seen = [Int](repeating: 0, count: count)
    for visit in visits(count, threads: 8, rounds: rounds) where visit.round == rounds - 1 {
      seen[visit.index] += 1
    }
    #expect(seen.allSatisfy { $0 == 1 })
  }

  @Test(arguments: [1, 2, 3, 7, 8, 9, 12, 1000])
  func `rounds without members are passed over, wherever a part begins`(count: Int) {
    let threads = 8
    for thread in 0..<threads {
      let whole = VisitingOrder(count: count, threads: threads, thread: thread, rounds: 30).map { $0 }
      var parts: [(index: Int, round: Int)] = []
      for first in stride(from: 0, to: 30, by: 10) {
        parts += VisitingOrder(count: count, threads: threads, thread: thread, rounds: first..<first + 10)
          .map { $0 }
      }
      // The members of a round may be visited in another order.
      func sorted(_ visits: [(index: Int, round: Int)]) -> [[Int]] {
        visits.map { [$0.round, $0.index] }.sorted { $0.lexicographicallyPrecedes($1) }
      }
      #expect(sorted(whole) == sorted(parts))
      // In each round another segment, which begins where that of the thread before it ends.
      let expected = (0..<30).flatMap { round -> [[Int]] in
        let number = (thread + round) % threads
        return (number * count / threads..<(number + 1) * count / threads).map { [round, $0] }
      }
      #expect(sorted(whole) == expected)
    }
  }

  @Test func `nobody visits an empty population`() {
    #expect(VisitingOrder(count: 0, threads: 8, thread: 3, rounds: 5).map { $0.index } == [])
  }

  @Test func `a member is visited by another thread each round`() {
    let visitors = Dictionary(grouping: visits(100, threads: 8, rounds: 8), by: \.index)
    #expect(visitors.count == 100)
    for visits in visitors.values { #expect(Set(visits.map(\.thread)).count == 8) }
  }

  @Test func `each thread ends a round before the next one`() {
    for thread in 0..<8 {
      let rounds = VisitingOrder(count: 80, threads: 8, thread: thread, rounds: 3).map(\.round)
      #expect(rounds == rounds.sorted())
      #expect(rounds.count == 30)
    }
  }

  /// 10^k, and an eighth of it: the segments of eight threads.
  @Test(arguments: [10, 12, 13, 100, 125, 1000, 1250, 10_000, 12_500, 100_000, 125_000, 1_000_000])
  func `two visits in a row are far apart`(length: Int) {
    let indices = VisitingOrder(count: length, threads: 1, thread: 0, rounds: 1..<2).map(\.index)
    let apart = distances(indices, length)
    #expect(Set(indices).count == length)
    #expect(apart.allSatisfy { $0 >= length / 3 }, "\(apart.min() ?? 0)")
  }

  /// The distance of each visit to the one before, around the end.
  private func distances(_ places: [Int], _ length: Int) -> [Int] {
    zip(places, places.dropFirst()).map { pair in
      let distance = abs(pair.0 - pair.1)
      return min(distance, length - distance)
    }
  }

  /// An allocator puts next to each other what is allocated one after the other: then a walk through memory would be measured.
  @Test(arguments: [10, 100, 1000, 10_000])
  func `what is visited in a row was not made in a row`(count: Int) {
    let making = VisitingOrder(count: count, threads: 1, thread: 0, rounds: 1).map(\.index)
    #expect(making.sorted() == Array(0..<count))
    var places = [Int](repeating: 0, count: count)
    for (place, index) in making.enumerated() { places[index] = place }
    for round in 1..<4 {
      let visited = VisitingOrder(count: count, threads: 1, thread: 0, rounds: round..<round + 1).map {
        places[$0.index]
      }
      #expect(distances(visited, count).allSatisfy { $0 >= count / 3 })
    }
  }

  @Test func `each of several threads makes its members in another order than it visits them`() {
    let making = VisitingOrder(count: 800, threads: 8, thread: 3, rounds: 1).map(\.index)
    // The first visits of thread 2 in round 1 are to the same segment.
    let visited = VisitingOrder(count: 800, threads: 8, thread: 2, rounds: 1..<2).map(\.index)
    #expect(making.sorted() == visited.sorted())
    #expect(zip(visited, visited.dropFirst()).allSatisfy { abs($0 - $1) > 1 })
    #expect(zip(making, making.dropFirst()).allSatisfy { abs($0 - $1) == 1 || abs($0 - $1) == 99 })
  }

  @Test(arguments: [1, 2, 3, 4, 6, 12, 100, 1250, 999_983, 1_000_003])
  func `a step has no divisor in common with the length`(length: Int) {
    let step = VisitingOrder.step(length)
    #expect((1...max(1, length)).contains(step))
    #expect((2...max(2, step)).allSatisfy { !step.isMultiple(of: $0) || !length.isMultiple(of: $0) })
  }
}
