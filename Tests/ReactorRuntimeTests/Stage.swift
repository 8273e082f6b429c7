import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport

/// Where the tested reactor runs.
enum PlacementUnderTest: CaseIterable, Sendable {
  case caller
  case loop
  /// On one loop of several.
  case group
  /// On a loop without a thread; a thread of the test's runs its rounds.
  case hosted
}

/// A placement, with the loop that it may need.
struct Stage: Sendable {
  let placement: Placement
  private let shutDown: (@Sendable () -> Void)?

  init(_ placement: PlacementUnderTest) throws {
    switch placement {
    case .caller:
      shutDown = nil
      self.placement = .caller
    case .loop:
      let loop = try Loop()
      shutDown = { loop.shutdown() }
      self.placement = .loop(loop)
    case .group:
      let group = try LoopGroup(count: 2)
      shutDown = { group.shutdown() }
      self.placement = .group(group, key: "key")
    case .hosted:
      let host = try ForeignLoop()
      shutDown = { host.shutdown() }
      self.placement = host.hosted.placement
    }
  }

  /// Returns when everything that was sent was reduced; false if that took too long. The last thing to do.
  ///
  /// - Parameter isDone: What must hold before the loop is shut down, which also refuses what turns send.
  func finish(after isDone: () -> Bool = { true }) -> Bool {
    guard let shutDown else { return isDone() }
    return Threads.yield(until: isDone) && Threads.start { shutDown() }.wait()
  }
}

/// A thread that polls for a hosted loop, and runs its rounds.
private final class ForeignLoop: Sendable {
  let hosted: HostedLoop
  private let isOver = Gate()
  private let hasEnded: Gate

  init() throws {
    let hosted = try HostedLoop()
    self.hosted = hosted
    hasEnded = Threads.start { [isOver] in
      while !isOver.isOpen {
        var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&watched, 1, 10) == 1 { hosted.run() }
      }
    }
  }

  deinit { isOver.open() }

  func shutdown() {
    isOver.open()
    _ = hasEnded.wait()
    hosted.shutdown()
  }
}
