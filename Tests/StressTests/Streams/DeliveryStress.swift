import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Operators of several streams that emit on threads of their own, while another thread subscribes. All elements are replayed,
  /// so it is known what must be delivered. `GrammarStress` only sees what must not be.
  @Suite struct DeliveryStress {
    @Test(arguments: DeliveryCase.all)
    func `everything that streams on several threads emit is delivered once`(row: DeliveryCase) {
      Scenario.announce("delivery, \(row)")
      Scenario("delivery, \(row)").run { scenario in
        for round in 0..<StressMode.rounds(100) {
          if let complaint = play(row, scenario, round) {
            Issue.record("\(complaint): \(scenario), round \(round)")
            return
          }
        }
      }
    }

    /// - Returns: What is wrong.
    private func play(_ row: DeliveryCase, _ scenario: Scenario, _ round: Int) -> String? {
      var choices = scenario.generator(round * 8)
      let counts = (0..<3).map { _ in 1 + choices.below(200) }
      let sources = (0..<3).map { _ in ReplaySubject<Int>.create(bufferSize: 200) }
      let stream = row.make(sources.map { $0.asObservable() })
      let log = ObserverLog()
      Crew(of: 4) { thread in
        var disturbance = Disturbance(scenario.generator(round * 8 + 1 + thread))
        if thread == 3 {
          for _ in 0..<disturbance.below(200) { disturbance.step() }
          _ = stream.subscribe(onNext: log.next, onCompleted: log.end)
          return
        }
        for index in 0..<counts[thread] {
          sources[thread].onNext(DeliveryCase.element(index, of: thread))
          disturbance.step()
        }
        sources[thread].onCompleted()
      }.join()
      if log.overlapCount > 0 { return "\(log.overlapCount) deliveries overlapped" }
      if log.ends != 1 || log.elementsAfterTheEnd > 0 { return "\(log.ends) ends, or elements after the end" }
      if let complaint = row.complaint(log.elements, counts) {
        return "\(complaint), of \(counts) elements: \(log.elements.prefix(700))"
      }
      return nil
    }
  }
}

/// A stream of three others, and what it must deliver.
struct DeliveryCase: Sendable, CustomStringConvertible {
  let description: String
  let make: @Sendable ([Observable<Int>]) -> Observable<Int>
  /// Gets what was delivered, and how many elements each of the three has. Returns what is wrong.
  let complaint: @Sendable ([Int], [Int]) -> String?

  init(
    _ name: String, _ complaint: @escaping @Sendable ([Int], [Int]) -> String?,
    make: @escaping @Sendable ([Observable<Int>]) -> Observable<Int>
  ) {
    (description, self.complaint, self.make) = (name, complaint, make)
  }

  static func element(_ index: Int, of source: Int) -> Int { source * 1000 + index }

  private static func index(_ element: Int) -> Int { element % 1000 }

  static let all: [DeliveryCase] = [
    DeliveryCase("merge", missing) { .merge($0[0], $0[1], $0[2]) },
    DeliveryCase("merge(maxConcurrent: 1)", missingInOrder) {
      Observable.of($0[0], $0[1], $0[2]).merge(maxConcurrent: 1)
    },
    DeliveryCase("merge(maxConcurrent: 2)", missing) {
      Observable.of($0[0], $0[1], $0[2]).merge(maxConcurrent: 2)
    },
    DeliveryCase("flatMap to the streams", missing) { streams in
      Observable.of(0, 1, 2).flatMap { streams[$0] }
    },
    DeliveryCase("flatMap of the elements", missing) { streams in
      Observable.merge(streams[0], streams[1], streams[2]).flatMap { Observable.just($0) }
    },
    DeliveryCase("concat", missingInOrder) { .concat($0[0], $0[1], $0[2]) },
    DeliveryCase("concatMap", missingInOrder) { streams in
      Observable.of(0, 1, 2).concatMap { streams[$0] }
    },
    DeliveryCase("zip of 2", unpairedOfFirstTwo) { streams in
      .zip(streams[0], streams[1]) { index($0) == index($1) ? index($0) : -1 }
    },
    DeliveryCase("zip of 3", unpaired) { streams in
      .zip(streams[0], streams[1], streams[2]) { a, b, c in
        index(a) == index(b) && index(b) == index(c) ? index(a) : -1
      }
    },
    DeliveryCase("zip of a list", unpaired) { streams in
      .zip(streams) { elements in Set(elements.map(index)).count == 1 ? index(elements[0]) : -1 }
    },
    DeliveryCase("combineLatest of 2", notLatest) { streams in
      .combineLatest(streams[0], streams[1]) { element(index($1), of: index($0)) }
    },
  ]

  // MARK: What must be delivered

  /// All elements, those of each stream in their order.
  private static func missing(_ delivered: [Int], _ counts: [Int]) -> String? {
    for source in counts.indices {
      let own = delivered.filter { $0 / 1000 == source }
      if own != (0..<counts[source]).map({ element($0, of: source) }) { return "not all of stream \(source)" }
    }
    return nil
  }

  /// All elements of one stream after the other.
  private static func missingInOrder(_ delivered: [Int], _ counts: [Int]) -> String? {
    let expected = counts.indices.flatMap { source in (0..<counts[source]).map { element($0, of: source) } }
    return delivered == expected ? nil : "not all, or not one stream after the other"
  }

  /// The indices of the elements that were put together: as many as the shortest stream has.
  private static func unpaired(_ delivered: [Int], _ counts: [Int]) -> String? {
    delivered.elementsEqual(0..<(counts.min() ?? 0))
      ? nil : "not all elements with the same index were put together"
  }

  private static func unpairedOfFirstTwo(_ delivered: [Int], _ counts: [Int]) -> String? {
    unpaired(delivered, Array(counts.prefix(2)))
  }

  /// One combination for each element once both streams have sent one; the last one is of the last elements.
  private static func notLatest(_ delivered: [Int], _ counts: [Int]) -> String? {
    guard let first = delivered.first else { return "nothing was combined" }
    // The first element of one of them has completed the first combination.
    if first / 1000 > 0, index(first) > 0 { return "the first combinations are missing" }
    let steps = zip(delivered, delivered.dropFirst()).map { $1 - $0 }
    if !steps.allSatisfy({ $0 == 1 || $0 == 1000 }) { return "a combination is missing" }
    return delivered.last == element(counts[1] - 1, of: counts[0] - 1) ? nil : "not the last elements"
  }
}
