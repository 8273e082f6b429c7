import ReactorRuntime
import TestSupport
import Testing

extension Controlled {
  /// Programs of operations on one reactor.
  @Suite struct ProgramTests {
    /// Every pair of operations, each beside a send. The policies, the forms of the state, and whether it is observed take turns;
    /// the long mode tries each policy.
    @Test(arguments: Place.allCases, Operation.allCases)
    func `two operations at the same time`(_ place: Place, _ first: Operation) {
      let operations = Operation.allCases
      let index = operations.firstIndex(of: first)!
      let programs = operations[index...].enumerated().flatMap { offset, second in
        (0..<(Exploration.factor > 1 ? 4 : 1)).map { turn in
          // 5 has no divisor in common with the number of variants, so all of them come.
          let variant = 5 * (index * operations.count + offset + turn) + Place.allCases.firstIndex(of: place)!
          return Program(threads: [[.send, first], [second, .send]], place: place, variant: variant)
        }
      }
      explore(
        programs, named: "\(first) beside each operation, \(place)", schedules: 60 * Exploration.factor)
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
          variant: random.below(Program.variants))
      }
      explore(programs, named: "random programs", schedules: 40)
    }
  }
}
