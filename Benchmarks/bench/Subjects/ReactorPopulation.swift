import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits
import ReactorCore
import ReactorRuntime
import Synchronization

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

  var objectBytes: Int? { MemoryUse.size(of: reactors[0]) }

  func visit(_ order: VisitingOrder) {
    for (index, round) in order { reactors[index].send(UInt64(round + 1)) }
  }

  func awaitAdditions(_ each: Int, until deadline: UInt64) throws -> UInt64 {
    try host.awaitAll(count, until: deadline) { reactors[$0].currentState.count >= UInt64(each) }
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

  /// Returns when all `count` members have done what they were sent, and since when that is so. `isDone` reads a member, which
  /// other subjects than reactors need not be: its time does not count.
  func awaitAll(_ count: Int, until deadline: UInt64, _ isDone: (Int) -> Bool) throws -> UInt64

  func shutdown()
}

struct CallerHost: PopulationHost {
  init(cores: Int) {}
  func placement(of index: Int) -> Placement { .caller }

  /// When all senders have returned, one of them has run every action.
  func awaitAll(_ count: Int, until deadline: UInt64, _ isDone: (Int) -> Bool) -> UInt64 { bl_now_ns() }

  func shutdown() {}
}

/// As many loops as there are cores.
struct GroupHost: PopulationHost {
  private let group: LoopGroup

  init(cores: Int) throws { group = try LoopGroup(count: cores) }

  func placement(of index: Int) -> Placement { .group(group, key: index) }

  func awaitAll(_ count: Int, until deadline: UInt64, _ isDone: (Int) -> Bool) throws -> UInt64 {
    var index = 0
    while true {
      try awaitRounds(until: deadline)
      let end = bl_now_ns()
      // Usually all are done: one that waits has had its turn. A turn has a bound, so one with more actions is waited for again.
      while index < count, isDone(index) { index += 1 }
      if index == count { return end }
      guard end < deadline else { throw Stalled("a reactor has not had its actions") }
    }
  }

  /// Returns when each loop has begun two more rounds, and so has ended one in which every reactor that waited had its turn.
  private func awaitRounds(until deadline: UInt64) throws {
    let begun = LoopsDone()
    for loop in group.loops {
      // What a job submits is run in a later round.
      try loop.execute { try? loop.execute { begun.count.add(1, ordering: .releasing) } }
    }
    var idle = IdleWait()
    while begun.count.load(ordering: .acquiring) < group.loops.count {
      guard !idle.wait() || bl_now_ns() < deadline else { throw Stalled("a loop does not run its jobs") }
    }
  }

  private final class LoopsDone: Sendable {
    let count = Atomic(0)
  }

  func shutdown() { group.shutdown() }
}
