import ReactorRuntime

/// A reactor that gets sixteen actions with each call of ``Reactor/send(contentsOf:)``.
final class RunSubject<Host: AskHost>: FanInSubject {
  private static var run: UInt64 { 16 }

  private let loop: Loop?
  private let reactor: TallyReactor

  init(_ setup: SubjectSetup) throws {
    loop = try Host.makeLoop(setup)
    reactor = TallyReactor(on: loop.map { .loop($0) } ?? .caller, setup)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    var first = values.lowerBound
    while first < values.upperBound {
      let end = min(first + Self.run, values.upperBound)
      // An array of the caller's, as from a socket: what it costs to make is a part of it.
      reactor.send(contentsOf: (first..<end).map { Item(producer: UInt64(producer), value: $0) })
      first = end
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    let totals = try reactor.awaitTotals(quota)
    loop?.shutdown()
    return totals
  }
}
