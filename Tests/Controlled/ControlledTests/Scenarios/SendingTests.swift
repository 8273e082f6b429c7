import ReactorCore
import ReactorRuntime
import Testing

extension Controlled {
  /// Senders that meet at a reactor: nothing is lost or doubled, the orders are kept, and nobody waits for ever.
  @Suite struct SendingTests {
    @Test(arguments: Place.allCases)
    func `senders that meet lose nothing and keep their order`(_ place: Place) {
      explore("three senders, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement)
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          together({ send(0) }, { send(1) }, { send(2) })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a full mailbox refuses, and loses nothing`(_ place: Place) {
      explore("trySend to a full mailbox, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement, capacity: 1)
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 {
              ledger.send(sender * 10 + number) { parcel throws(SendError) in try subject.trySend(parcel) }
            }
          }
          together({ send(0) }, { send(1) }, { send(2) })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a sender that sleeps until there is room is woken`(_ place: Place) {
      explore("senders that sleep, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, capacity: 1,
            onMutate: { _, parcel in if parcel.id == 0 { sleep(.seconds(1)) } })
          subject.runtime.yieldSeldom()
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          together({ send(0) }, { send(1) }, { send(2) })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a sender with a deadline is served or gives up`(_ place: Place) {
      explore("senders with deadlines, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, capacity: 1,
            onMutate: { _, parcel in if parcel.id == 0 { sleep(.seconds(2)) } })
          subject.runtime.yieldSeldom()
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 {
              ledger.send(sender * 10 + number, within: .seconds(1)) { parcel, deadline throws(SendError) in
                try subject.send(parcel, before: deadline)
              }
            }
          }
          together({ send(0) }, { send(1) }, { send(2) })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a turn that sends to its own reactor keeps the order`(_ place: Place) {
      explore("re-entrant sends, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, capacity: 1,
            onMutate: { subject, parcel in
              if parcel.id < 100 { ledger.send(parcel.id + 100) { subject.send($0) } }
            })
          together({ ledger.send(1) { subject.send($0) } }, { ledger.send(2) { subject.send($0) } })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }
  }
}
