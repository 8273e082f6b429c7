import ReactorCore
import ReactorRuntime
import Testing

extension Controlled {
  /// Durable reactors on a disk that is slow, or fails: what is on the disk is what was processed, in its order; a reply comes
  /// after that; nothing is lost or doubled, and nobody waits for ever.
  @Suite struct JournalTests {
    @Test(arguments: Place.allCases)
    func `replies come when their mutations are on the disk`(_ place: Place) {
      explore("a journal, two senders and a client, \(place)", schedules: 300) {
        let bank = Bank(Disk())
        place.use { placement in
          let account = Account(bank.ledger, on: placement, bank.journal)
          together(
            { for id in 10..<12 { bank.send(id, to: account) } },
            { for id in 20..<22 { bank.send(id, to: account) } },
            { for id in 30..<32 { bank.ask(id, of: account) } })
          bank.finish(account)
        }
        sleep(.seconds(60))
        bank.ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a disk that fails ends the reactor, and every request has one outcome`(_ place: Place) {
      explore("a journal on a disk that fails, \(place)", schedules: 300) {
        let bank = Bank(Disk(failing: 2))
        place.use { placement in
          let account = Account(bank.ledger, on: placement, bank.journal)
          // The disk may fail at any time, which closes the reactor.
          bank.ledger.willClose()
          together(
            { for id in 10..<13 { bank.send(id, to: account) } },
            { for id in 20..<23 { bank.ask(id, of: account) } })
          bank.finish(account, failed: true)
        }
        sleep(.seconds(60))
        bank.ledger.verify()
      }
    }

    @Test func `a loop that is shut down while its reactor waits for the disk runs what was accepted`() {
      explore("a journal, two senders, and a loop that is shut down", schedules: 300) {
        let bank = Bank(Disk())
        do {
          // There is memory.
          let loop = try! Loop(name: "loop", waiting: .parking(after: .zero))
          let account = Account(bank.ledger, on: .loop(loop), bank.journal)
          together(
            { for id in 10..<13 { bank.send(id, to: account) } },
            { for id in 20..<22 { bank.ask(id, of: account) } },
            {
              sleep(.milliseconds(500))
              bank.ledger.willClose()
              loop.shutdown()
            })
          bank.finish(account)
        }
        sleep(.seconds(60))
        bank.ledger.verify()
      }
    }
  }
}
