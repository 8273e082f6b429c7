import Glibc
import ReactorCore
import ReactorRuntime

/// A reactor on a thread of its own.
final class LoopReactorSubject: FanInSubject {
  private let loop: Loop
  private let reactor: TallyReactor

  init(_ setup: SubjectSetup) throws {
    loop = try Loop(
      waiting: setup.consumer == .busy ? .busy : .parking, processor: setup.consumerCPU.map(Int.init))
    reactor = TallyReactor(on: .loop(loop), setup)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reactor.send(Item(producer: UInt64(producer), value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    while reactor.currentState.count < quota.total {
      try quota.checkDeadline(reduced: reactor.currentState.count)
      sched_yield()
    }
    let totals = reactor.currentState.totals
    loop.shutdown()
    return totals
  }

  /// With the wake of the shutdown.
  var sleeping: Sleeping? {
    let counters = loop.counters
    return Sleeping(parks: counters.parks, wakes: counters.wakes)
  }
}
