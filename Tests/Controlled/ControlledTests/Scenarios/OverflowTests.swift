import ReactorCore
import ReactorRuntime
import Testing

extension Controlled {
  /// Mailboxes that grow, are full, or keep something beside them.
  @Suite struct OverflowTests {
    @Test(arguments: Place.allCases)
    func `a mailbox that grows keeps the order, and holds no more than its capacity`(_ place: Place) {
      // From 8 slots to 16, while the owner is in a turn.
      explore("a mailbox that grows, \(place)", schedules: 400) {
        let ledger = Ledger(mostWaiting: 16)
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, capacity: 16,
            onMutate: { _, parcel in if parcel.id == 0 { sleep(.seconds(1)) } })
          let send = { @Sendable (sender: Int) in
            for number in 0..<10 {
              ledger.send(sender * 100 + number) { parcel throws(SendError) in try subject.trySend(parcel) }
            }
          }
          together({ send(0) }, { send(1) })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `what turns send to a full mailbox keeps its place in the order`(_ place: Place) {
      explore("turns that send to a full mailbox, \(place)", schedules: 400) {
        let ledger = Ledger()
        place.use { placement in
          let full = Subject(
            ledger, on: placement, capacity: 1,
            onMutate: { _, parcel in if parcel.id == 0 { sleep(.seconds(1)) } })
          let sender = Forwarder(to: full, ledger)
          together(
            {
              for number in 0..<2 {
                ledger.send(number) { parcel throws(SendError) in try full.trySend(parcel) }
              }
            },
            { sender.send(10) }, { sender.send(20) })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }

    /// Every action but those from itself makes the reactor send one to itself.
    private func reactor(_ ledger: Ledger, on placement: Placement, _ overflow: OverflowPolicy) -> Subject {
      Subject(
        ledger, on: placement, capacity: 1, overflow: overflow, reentrantCapacity: 2,
        onMutate: { subject, parcel in
          if parcel.id == 0 { sleep(.seconds(1)) }
          if parcel.id < 100 { ledger.send(parcel.id + 100) { subject.send($0) } }
        })
    }

    @Test(arguments: Place.allCases)
    func `what turns send to a full mailbox is bounded, and so is what the reactor sends to itself`(
      _ place: Place
    ) {
      explore("limits beside a full mailbox, \(place)", schedules: 400) {
        // One in the ring, two from turns of others, and two of the reactor itself.
        let ledger = Ledger(mostWaiting: 5, reasons: [.reentrantOverflow])
        place.use { placement in
          let full = reactor(ledger, on: placement, .block)
          let (first, second) = (Forwarder(to: full, ledger), Forwarder(to: full, ledger))
          together(
            { for id in 0..<2 { ledger.send(id) { parcel throws(SendError) in try full.trySend(parcel) } } },
            { for turn in 1...2 { first.send(10 * turn) } }, { for turn in 3...4 { second.send(10 * turn) } })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `dropOldest is bounded, and drops nothing that the reactor sends to itself`(_ place: Place) {
      explore("limits with dropOldest, \(place)", schedules: 400) {
        // One in the ring, twice as many beside it, and two of the reactor itself.
        let ledger = Ledger(mostWaiting: 5, reasons: [.reentrantOverflow])
        place.use { placement in
          let subject = reactor(ledger, on: placement, .dropOldest)
          let send = { @Sendable (sender: Int) in
            for number in 0..<4 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          together({ send(0) }, { send(1) }, { send(2) })
          ledger.verifyAtRest()
        }
        let dropped = ledger.reports.filter { $0.value.contains { $0.reason == .dropped } }.keys
        check(dropped.allSatisfy { $0 < 100 }, "dropped, of the reactor's own: \(dropped)")
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases, [OverflowPolicy.fail, .dropNewest, .dropOldest])
    func `what a policy drops is reported, and nothing else`(_ place: Place, _ policy: OverflowPolicy) {
      explore("\(policy), \(place)", schedules: 400) {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement, capacity: 2, overflow: policy)
          let send = { @Sendable (sender: Int) in
            for number in 0..<3 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          together({ send(0) }, { send(1) }, { send(2) })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }
  }
}
