import ReactorCore
import ReactorRuntime

/// Where the reactor of a scenario runs.
enum Place: CaseIterable, Sendable, CustomStringConvertible {
  case caller, loop, group

  var description: String {
    switch self {
    case .caller: "on .caller"
    case .loop: "on a loop"
    case .group: "in a group"
    }
  }

  /// Calls `body` with a placement. Then shuts its loops down, which run what was accepted before.
  func use(_ body: (Placement) -> Void) {
    // Sleeps as soon as it finds nothing: more checks would only add points.
    let waiting = WaitStrategy.parking(after: .zero)
    switch self {
    case .caller: body(.caller)
    case .loop:
      // There is memory.
      let loop = try! Loop(name: "loop", waiting: waiting)
      body(.loop(loop))
      loop.shutdown()
    case .group:
      let group = try! LoopGroup(name: "group", count: 2, waiting: waiting)
      body(.group(group, key: 1))
      group.shutdown()
    }
  }
}
