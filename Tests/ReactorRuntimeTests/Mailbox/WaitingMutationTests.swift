import TestSupport
import Testing

@testable import ReactorRuntime

/// The mutations of a stream that wait in the mailbox.
@Suite struct WaitingMutationTests {
  @Test(arguments: 0..<10)
  func `waiting mutations behave like an array`(_ seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var waiting = WaitingMutations()
    var expected: [WaitingMutation] = []
    for _ in 0..<2000 {
      switch generator.next() % 8 {
      case 0..<4:
        let mutation = WaitingMutation(scopes: [])
        waiting.append(mutation)
        expected.append(mutation)
      case 4..<6 where !expected.isEmpty:
        waiting.remove(expected.removeFirst())
      case 6 where !expected.isEmpty:
        waiting.remove(expected.removeLast())
      default:
        guard let other = expected.randomElement(using: &generator) else { break }
        expected.removeAll { $0 === other }
        waiting.remove(other)
        // It has left.
        waiting.remove(other)
      }
      var seen: [WaitingMutation] = []
      #expect(
        waiting.allSatisfy { mutation in
          seen.append(mutation)
          return true
        })
      #expect(seen.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init))
    }
  }

  @Test func `what has left is released`() {
    var waiting = WaitingMutations()
    for _ in 0..<100 {
      weak var left: WaitingMutation?
      do {
        let mutation = WaitingMutation(scopes: [])
        left = mutation
        waiting.append(mutation)
        waiting.append(WaitingMutation(scopes: []))
        waiting.remove(mutation)
      }
      #expect(left == nil)
    }
  }

  /// The cost of a mutation must not depend on how many wait: a lock is held.
  @Test func `a mutation leaves very many that wait as fast as a few`() {
    func duration(ofLeaving count: Int) -> Duration {
      let stream = MutationStream<Int>(for: 0)
      var waiting = (0..<count).map { _ in stream.addWaiting() }
      let begin = processorTime
      for index in 0..<5000 {
        stream.removeWaiting(waiting[index])
        waiting.append(stream.addWaiting())
      }
      return processorTime - begin
    }
    _ = duration(ofLeaving: 64)
    let few = leastOfThree { duration(ofLeaving: 64) }
    let many = leastOfThree { duration(ofLeaving: 1 << 15) }
    #expect(many < few * 10, "few: \(few), very many: \(many)")
  }
}
