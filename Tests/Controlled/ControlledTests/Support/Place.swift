import ReactorCore

@testable import ReactorRuntime

/// Where the reactor of a scenario runs.
enum Place: CaseIterable, Sendable, CustomStringConvertible {
  case caller, loop, group, hosted, called, main

  static let loops: [Place] = allCases.filter { $0 != .caller }
  /// The timers of the main loop wait in a source of Dispatch's that is not controlled.
  static let timed: [Place] = [.loop, .group, .hosted, .called]

  var description: String {
    switch self {
    case .caller: "on .caller"
    case .loop: "on a loop"
    case .group: "in a group"
    case .hosted: "on a hosted loop"
    case .called: "on a hosted loop that is called"
    case .main: "on the main loop"
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
    case .hosted, .called:
      let host = self == .hosted ? Host.watching() : Host.called()
      body(host.hosted.placement)
      host.end()
    case .main:
      // One of its own, which is the same in each execution.
      let runner = try! MainLoopRunner()
      body(.loop(runner.loop))
      awaitRest()
    }
  }
}

/// A hosted loop, and the thread of its foreign loop.
final class Host: Sendable {
  let hosted: HostedLoop
  private let host: Worker
  private let stop: @Sendable () -> Void

  private init(
    _ hosted: HostedLoop, stop: @escaping @Sendable () -> Void, _ run: @escaping @Sendable () -> Void
  ) {
    self.hosted = hosted
    self.stop = stop
    host = Worker("host", run)
  }

  /// The foreign loop watches descriptors.
  static func watching() -> Host {
    // There are descriptors.
    let (hosted, poller, ending) = (try! HostedLoop(turnLimit: 2), try! Poller(), try! EventDescriptor())
    try! poller.add(hosted.descriptor, for: .readable, tag: 0)
    try! poller.add(ending.descriptor, for: .readable, tag: 1)
    let run = { @Sendable in
      var isOver = false
      while !isOver {
        var isReady = false
        poller.wait(timeoutMilliseconds: -1) { tag, _ in
          if tag == 0 { isReady = true } else { isOver = true }
        }
        if isReady { hosted.run(rounds: 2) }
      }
    }
    return Host(hosted, stop: { ending.signal() }, run)
  }

  /// The foreign loop takes closures.
  ///
  /// - Parameter isHost: Which threads count as its own; nil if the one that ran the last rounds does.
  static func called(isHost: (@Sendable () -> Bool)? = nil) -> Host {
    let foreign = ForeignLoop()
    let hosted = try! HostedLoop(
      turnLimit: 2, onTimer: nil, onWake: { hosted in foreign.post { hosted.run(rounds: 2) } },
      isHost: isHost)
    return Host(hosted, stop: { foreign.stop() }, { foreign.run() })
  }

  /// Ends the foreign loop. What is left is run here, as when a service stops.
  func end() {
    stop()
    host.join()
    hosted.shutdown()
  }
}

/// A loop that takes closures.
private final class ForeignLoop: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and what is changed is changed without a point in between.
  // There is memory.
  private let wake = try! EventCount()
  private var closures: [@Sendable () -> Void] = []
  private var isOver = false

  func post(_ closure: @escaping @Sendable () -> Void) {
    // What is posted afterwards would never be released.
    if isOver { return }
    closures.append(closure)
    wake.notify()
  }

  func stop() {
    (isOver, closures) = (true, [])
    wake.notify()
  }

  func run() {
    while true {
      _ = wake.wait { !closures.isEmpty || isOver }
      if isOver { return }
      closures.removeFirst()()
    }
  }
}
