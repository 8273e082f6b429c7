import ReactorCore
import ReactorRuntime
import TestSupport

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Where the reactor of a scenario runs its turns.
enum Place: CaseIterable, Sendable, CustomStringConvertible {
  case caller, parkingLoop, spinningLoop, busyLoop
  /// One loop of several.
  case group
  /// A foreign loop.
  case hosted

  /// The wait strategy of a loop with its own thread.
  private var waiting: WaitStrategy? {
    switch self {
    case .caller, .group, .hosted: nil
    case .parkingLoop: .parking
    case .spinningLoop: .spinning
    case .busyLoop: .busy
    }
  }

  var description: String {
    switch self {
    case .caller: "the caller"
    case .parkingLoop, .spinningLoop, .busyLoop: "a \(waiting ?? .parking) loop"
    case .group: "a group"
    case .hosted: "a hosted loop"
    }
  }

  /// Returns a new loop, or nil for the caller. ``makeSite(turnLimit:)`` makes the other places.
  func makeLoop(turnLimit: Int = 1024) -> Loop? {
    guard let waiting else {
      precondition(self == .caller, "\(self) is more than a loop")
      return nil
    }
    do {
      return try Loop(name: "stress-loop", waiting: waiting, turnLimit: turnLimit)
    } catch {
      fatalError("no loop: \(error)")
    }
  }
}

extension Placement {
  init(_ loop: Loop?) { self = loop.map { .loop($0) } ?? .caller }
}

/// Runs the turns of one scenario's reactors. It is made for the scenario, and ended after it.
struct Site {
  let placement: Placement
  /// Processes everything that was sent, and ends the threads. On the caller everything has been processed before.
  let end: () -> Void
}

extension Place {
  /// Whether all turns are on one thread.
  var hasOneThread: Bool { self != .caller }

  func makeSite(turnLimit: Int = 1024) -> Site {
    do {
      switch self {
      case .caller, .parkingLoop, .spinningLoop, .busyLoop:
        let loop = makeLoop(turnLimit: turnLimit)
        return Site(placement: Placement(loop), end: { loop?.shutdown() })
      case .group:
        let group = try LoopGroup(name: "stress-group", count: 2, turnLimit: turnLimit)
        return Site(placement: .group(group, key: 1), end: { group.shutdown() })
      case .hosted:
        let hosted = try HostedLoop(name: "stress-hosted", turnLimit: turnLimit)
        let isOver = Gate()
        let isHost = Gate()
        let host = Threads.start { Self.run(hosted, isHost, until: isOver) }
        // Until its first round, this thread would count as the host, and run rounds while it waits for a reactor's end.
        precondition(isHost.wait(), "the foreign loop does not start")
        return Site(
          placement: hosted.placement,
          end: {
            isOver.open()
            precondition(host.wait(), "the foreign loop does not end")
          })
      }
    } catch {
      fatalError("no loop: \(error)")
    }
  }

  /// A foreign loop. It ends the hosted one as well, so that all turns are on its thread.
  private static func run(_ hosted: HostedLoop, _ isHost: Gate, until isOver: Gate) {
    hosted.run()
    isHost.open()
    while !isOver.isOpen {
      var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&watched, 1, 1) > 0 { hosted.run() }
    }
    hosted.shutdown()
  }
}
