import ReactorRuntime
import TestSupport
import Testing

extension Controlled {
  /// Programs of operations on one reactor.
  @Suite struct ProgramTests {
    private static let policies: [OverflowPolicy] = [.block, .fail, .dropNewest, .dropOldest]

    /// Every pair of operations, each beside a send. The policies take turns; the long mode tries all of them.
    @Test(arguments: Place.allCases, Operation.allCases)
    func `two operations at the same time`(_ place: Place, _ first: Operation) {
      let operations = Operation.allCases
      let index = operations.firstIndex(of: first)!
      let programs = operations[index...].enumerated().flatMap { offset, second in
        let policies = Exploration.factor > 1 ? Self.policies : [Self.policies[(index + offset) % 4]]
        return policies.map {
          Program(threads: [[.send, first], [second, .send]], place: place, policy: $0)
        }
      }
      explore(
        programs, named: "\(first) beside each operation, \(place)", schedules: 80 * Exploration.factor)
    }

    /// Two to four threads with one to three operations each. The long mode tries more of them.
    @Test func `any operations at the same time`() {
      let programs = (0..<100 * Exploration.factor).map { seed in
        var random = SplitMix64(seed: UInt64(seed))
        let threads = (0..<2 + random.below(3)).map { _ in
          (0..<1 + random.below(3)).map { _ in Operation.allCases[random.below(Operation.allCases.count)] }
        }
        return Program(
          threads: threads, place: Place.allCases[random.below(Place.allCases.count)],
          policy: Self.policies[random.below(4)])
      }
      explore(programs, named: "random programs", schedules: 40)
    }
  }
}
