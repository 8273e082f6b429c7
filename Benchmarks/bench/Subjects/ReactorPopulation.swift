import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits
import Glibc
import ReactorCore
import ReactorRuntime

/// A reactor as a user would write it.
final class SmallReactor: Reactor {
  let initialState = ReadState()
  let runtime: Runtime<UInt64, UInt64, ReadState>

  init(on placement: Placement) { runtime = Runtime(on: placement) }

  func reduce(into state: inout ReadState, mutation: UInt64) { state.add(mutation) }
}

/// Very many reactors.
///
/// `@unchecked Sendable`: `reactors` changes only in `make` and `end`, which are called alone.
final class ReactorPopulation<Host: PopulationHost>: Population, @unchecked Sendable {
  private let host: Host
  private let count: Int
  private var reactors: ContiguousArray<SmallReactor> = []

  init(count: Int, cores: Int) throws {
    host = try Host(cores: cores)
    self.count = count
    reactors.reserveCapacity(count)
  }

  func make() {
    for index in 0..<count { reactors.append(SmallReactor(on: host.placement(of: index))) }
  }

  var objectBytes: Int { MemoryUse.size(of: reactors[0]) }

  func visit(_ order: VisitingOrder) {
    for (index, round) in order { reactors[index].send(UInt64(round + 1)) }
  }

  func awaitAdditions(_ each: Int, until deadline: UInt64) throws {
    for reactor in reactors {
      while reactor.currentState.count < UInt64(each) {
        if bl_now_ns() > deadline { throw Stalled("a reactor has not had its \(each) actions") }
        sched_yield()
      }
    }
  }

  func readAll(_ body: (ReadState) -> Void) {
    for reactor in reactors { body(reactor.currentState) }
  }

  func end() {
    reactors.removeAll()
    host.shutdown()
  }
}

/// The placement of the members of a population.
protocol PopulationHost: Sendable {
  init(cores: Int) throws
  func placement(of index: Int) -> Placement
  func shutdown()
}

struct CallerHost: PopulationHost {
  init(cores: Int) {}
  func placement(of index: Int) -> Placement { .caller }
  func shutdown() {}
}

/// As many loops as there are cores.
struct GroupHost: PopulationHost {
  private let group: LoopGroup

  init(cores: Int) throws { group = try LoopGroup(count: cores) }

  func placement(of index: Int) -> Placement { .group(group, key: index) }

  func shutdown() { group.shutdown() }
}
