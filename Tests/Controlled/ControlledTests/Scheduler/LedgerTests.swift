import ReactorRuntime
import Testing

extension Controlled {
  /// Each rule of the ledger, with a record that just breaks it.
  @Suite struct LedgerTests {
    typealias Violation = ControlledTests.Violation<Ledger>

    static let violations = [
      Violation("lost", "neither reduced nor reported") { $0.send(1) { _ in } },
      Violation("doubled", "reduced 2 times") { ledger in
        ledger.send(1) { _ in }
        ledger.reduce(1)
        ledger.reduce(1)
      },
      Violation("reduced and reported", "reduced 1 times and reported 1 times") { ledger in
        ledger.note(.dropNewest)
        for id in 1...2 { ledger.send(id) { _ in } }
        ledger.reduce(1)
        ledger.report(1, .dropped)
      },
      Violation("refused and reduced", "reduced or reported nonetheless") { ledger in
        ledger.send(0) { _ in ledger.reduce(0) }
        ledger.send(1) { _ throws(SendError) in throw .full }
        ledger.reduce(1)
      },
      Violation("closed although open", "refused as closed by an open reactor") { ledger in
        ledger.send(1) { _ throws(SendError) in throw .closed }
        ledger.willClose()
      },
      Violation("reported as closed although open", "reported as closed by an open reactor") { ledger in
        ledger.send(1) { _ in }
        ledger.report(1, .closed)
        ledger.willClose()
      },
      Violation("reduced after the end", "after the end") { ledger in
        ledger.send(1) { _ in }
        ledger.hasEnded()
        ledger.reduce(1)
      },
      Violation("reduced before it was sent", "before it was sent") { ledger in
        ledger.reduce(1)
        ledger.send(1) { _ in }
      },
      Violation("overtaken", "action 2 overtook action 1") { ledger in
        ledger.send(1) { _ in }
        ledger.send(2) { _ in }
        ledger.reduce(2)
        ledger.reduce(1)
      },
      Violation("waits at rest", "waits although nobody will run the reactor") { ledger in
        ledger.send(1) { _ in }
        ledger.verifyAtRest()
      },
      Violation("reported after the end", "accepted, and reported after the end") { ledger in
        ledger.willClose()
        ledger.send(1) { _ in }
        ledger.hasEnded()
        ledger.report(1, .closed)
      },
      Violation("reduced although closed before", "although the reactor had been closed before") { ledger in
        ledger.willClose()
        ledger.hasClosed()
        ledger.send(1) { _ in }
        ledger.reduce(1)
      },
      Violation("not reduced though from inside", "of the loop itself was not reduced") { ledger in
        ledger.willClose()
        ledger.send(1, isFromInside: true) { _ throws(SendError) in throw .closed }
      },
      Violation("not returned", "has not returned") { ledger in
        ledger.send(1) { _ in ledger.verify() }
      },
      Violation("full, but it was told to wait", "which nothing explains") { ledger in
        ledger.send(1, within: .seconds(1)) { _, _ throws(SendError) in throw .full }
      },
      Violation("full though nothing else was sent", "which nothing explains") { ledger in
        ledger.send(1) { _ throws(SendError) in throw .full }
      },
      Violation("full though the others were processed before", "which nothing explains") { ledger in
        ledger.note(.block, capacity: 2)
        for id in 1...2 {
          ledger.send(id) { _ in ledger.beginMutate(id) }
          ledger.endMutate()
        }
        ledger.send(3) { _ throws(SendError) in throw .full }
      },
      Violation("refused by a policy though there was room", "which nothing explains") { ledger in
        ledger.note(.fail, capacity: 2)
        ledger.send(1) { _ in }
        ledger.send(2) { ledger.report($0.id, .full) }
      },
      Violation("dropped though there was room", "which nothing explains") { ledger in
        ledger.note(.dropOldest, capacity: 2)
        for id in 1...2 { ledger.send(id) { _ in } }
        ledger.report(1, .dropped)
      },
      Violation("timed out too early", "which nothing explains") { ledger in
        ledger.send(1, within: .seconds(1)) { _, _ throws(SendError) in throw .timedOut }
      },
      Violation("cancelled by nobody", "which nothing explains") { ledger in
        ledger.willCancel(2)
        ledger.send(1) { _ throws(SendError) in throw .cancelled }
      },
      Violation("dropped by a policy that waits", "which nothing explains") { ledger in
        ledger.note(.block)
        ledger.send(1) { _ in }
        ledger.report(1, .dropped)
      },
      Violation("refused for a deadlock", "which nothing explains") { ledger in
        ledger.send(1) { _ throws(SendError) in throw .deadlock }
      },
      Violation("leaked", "1 objects are alive") { $0.wasBorn() },
      Violation("more than there is room for", "4 actions wait, and at most 3 may") { ledger in
        for id in 1...4 { ledger.send(id) { _ in } }
      },
      Violation("more than there is room for beside one in mutate", "3 actions wait, and at most 2 may") {
        ledger in
        ledger.send(1) { _ in ledger.beginMutate(1) }
        for id in 2...4 { ledger.send(id) { _ in } }
      },
      Violation("processed instead of discarded", "although the reactor discards") { ledger in
        ledger.hasDiscarded()
        for id in 1...2 {
          ledger.beginMutate(id)
          ledger.endMutate()
        }
      },
      Violation("in mutate twice", "action 1 is in mutate twice") { ledger in
        for _ in 1...2 {
          ledger.beginMutate(1)
          ledger.endMutate()
        }
      },
      Violation("two in mutate", "at the same time") { ledger in
        ledger.beginMutate(1)
        ledger.beginMutate(2)
      },
    ]

    @Test(arguments: violations) func `a record that breaks a rule fails`(_ violation: Violation) {
      violation.expectFailure(in: { Ledger(mostWaiting: 2) }, by: { $0.verify() })
    }

    @Test func `a record that keeps all rules passes`() {
      let execution = Schedule(.random).run {
        let ledger = Ledger()
        ledger.send(1) { _ in ledger.reduce(1) }
        ledger.send(2) { _ throws(SendError) in throw .full }
        ledger.send(3) { _ in }
        ledger.willClose()
        ledger.send(4) { _ throws(SendError) in throw .closed }
        ledger.report(3, .closed)
        ledger.hasEnded()
        ledger.verify()
      }
      #expect(execution.failure == nil)
    }
  }
}
