import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits

/// Very many actors, each call awaited by the task of one visitor.
///
/// `@unchecked Sendable`: `actors` changes only in `make` and `end`, which are called alone.
final class ActorPopulation: Population, @unchecked Sendable {
  private actor SmallActor {
    private(set) var state = ReadState()

    func add(_ value: UInt64) { state.add(value) }
  }

  private let count: Int
  private var actors: ContiguousArray<SmallActor> = []

  init(count: Int, cores: Int) {
    self.count = count
    actors.reserveCapacity(count)
  }

  func make() {
    for _ in 0..<count { actors.append(SmallActor()) }
  }

  var objectBytes: Int { MemoryUse.size(of: actors[0]) }

  func visit(_ order: VisitingOrder) {
    Handover<Void>.blocking { [self] in
      for (index, round) in order {
        await actors[index].add(UInt64(round + 1))
        // Leaves the actor: see ActorBaseline.
        bl_opaque()
      }
    }
  }

  func awaitAdditions(_ each: Int, until deadline: UInt64) {
    // All calls were awaited.
  }

  func readAll(_ body: (ReadState) -> Void) {
    let states = Handover.blocking { [self] in
      var states: [ReadState] = []
      for one in actors { states.append(await one.state) }
      return states
    }
    states.forEach(body)
  }

  func end() { actors.removeAll() }
}
