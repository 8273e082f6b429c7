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

  /// The step is this prime: in a population of as many members it would always lead back to the first one.
  @Test func `all members are visited if their number is the step itself`() {
    let order = VisitingOrder(count: 1_000_003, threads: 1, thread: 0, rounds: 1)
    var seen = [Bool](repeating: false, count: 1_000_003)
    for visit in order { seen[visit.index] = true }
    #expect(seen.allSatisfy { $0 })
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

  @Test func `no thread visits neighbours in a row`() {
    let indices = VisitingOrder(count: 100_000, threads: 1, thread: 0, rounds: 1).map(\.index)
    let neighbours = zip(indices, indices.dropFirst()).count { abs($0 - $1) <= 1 }
    #expect(neighbours < 1000)
  }
}
