import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport

/// The placements that the tests cover.
enum PlacementUnderTest: CaseIterable, Sendable {
  case caller
  case loop
  /// On one loop of a group.
  case group
  /// On a hosted loop; a thread of the test runs its rounds.
  case hosted
}

/// A placement, and the loop that it may need.
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

  /// Waits until everything that was sent is reduced, and shuts down the loop. Returns false if this takes too long.
  /// Nothing may be sent afterwards.
  ///
  /// - Parameter isDone: The condition to wait for before the shutdown, which also refuses actions that turns send.
  func finish(after isDone: () -> Bool = { true }) -> Bool {
    guard let shutDown else { return isDone() }
    return Threads.yield(until: isDone) && Threads.start { shutDown() }.wait()
  }
}

/// A thread that polls the descriptor of a hosted loop, and runs its rounds.
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
