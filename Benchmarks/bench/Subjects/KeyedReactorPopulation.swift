import BenchmarkSupport
import ReactorRuntime

/// Reactors that are found by key, and made at the first action.
final class KeyedReactorPopulation<Host: PopulationHost>: Population {
  private let host: Host
  private let count: Int
  private let reactors: KeyedReactors<Int, SmallReactor>

  init(count: Int, cores: Int) throws {
    let host = try Host(cores: cores)
    self.host = host
    self.count = count
    reactors = KeyedReactors { key in SmallReactor(on: host.placement(of: key)) }
  }

  func make() {
    // The first action makes them.
  }

  func visit(_ order: VisitingOrder) {
    for (key, round) in order { reactors.send(UInt64(round + 1), to: key) }
  }

  func awaitAdditions(_ each: Int, until deadline: UInt64) throws -> UInt64 {
    try host.awaitAll(count, until: deadline) {
      reactors.withCurrentState(of: $0) { $0.count >= UInt64(each) } ?? false
    }
  }

  func readAll(_ body: (ReadState) -> Void) {
    for key in 0..<count { reactors.withCurrentState(of: key) { body(copy $0) } }
  }

  func end() {
    reactors.close()
    // On the caller, they end on another thread.
    _ = reactors.finishClosing(before: .now + .seconds(600))
    host.shutdown()
  }
}
