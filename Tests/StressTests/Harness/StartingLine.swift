import ReactorCore
import Synchronization

/// Where threads wait for one another, again and again.
struct StartingLine: ~Copyable, Sendable {
  private let threads: Int
  private let arrived = Atomic(0)
  private let givenUp = Atomic(false)

  init(threads: Int) { self.threads = threads }

  /// Spins, because a thread that sleeps comes too late; but lets others run now and then.
  func meet() {
    let place = arrived.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    let everybody = (place + threads - 1) / threads * threads
    var looks = 0
    while arrived.load(ordering: .acquiring) < everybody {
      looks += 1
      if looks % 64 == 0 { DedicatedThread.yield() } else { CurrentCore.pause() }
    }
  }

  func giveUp() { givenUp.store(true, ordering: .relaxed) }

  var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }
}
