import ReactorCore
import ReactorRuntime
import Testing

extension Controlled {
  /// Closing, and references that go away, while others use the reactor: nothing is lost, and everything is freed.
  @Suite struct EndingTests {
    @Test(arguments: Place.allCases)
    func `an action that is sent weakly while the last reference is dropped is not lost`(_ place: Place) {
      explore("weak sends, and the last reference dropped inside mutate, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let (holder, keeper, weakly) = (Holder<Subject>(), Holder<Subject>(), WeakHolder<Subject>())
          let action = {
            let subject = Subject(
              ledger, on: placement, onMutate: { _, parcel in if parcel.id == 1 { holder.object = nil } })
            holder.object = subject
            weakly.object = subject
            return subject.action
          }()
          together(
            { ledger.send(1) { action.onNext($0) } },
            {
              keeper.object = weakly.object
              if let subject = keeper.object { ledger.send(2) { subject.send($0) } }
            })
          if keeper.object == nil {
            // The reactor has gone away inside of its own mutate, which then reduces nothing.
            ledger.forget(1)
          } else {
            ledger.verifyAtRest()
          }
          ledger.willClose()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `an observer that is disposed of while the reactor is closed is released`(_ place: Place) {
      explore("close and dispose during a turn, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement)
          // The observer keeps the reactor alive until the disposal.
          let subscription = subject.state.subscribe(onNext: { _ in withExtendedLifetime(subject) {} })
          together(
            { ledger.send(1) { subject.send($0) } },
            {
              ledger.willClose()
              subject.close()
              subscription.dispose()
            })
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `what is sent after a close has returned is refused`(_ place: Place) {
      explore("one send, and a send behind a close, \(place)", schedules: 1500) {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement)
          let close = { @Sendable (number: Int) in
            ledger.willClose()
            subject.close()
            ledger.hasClosed()
            ledger.send(number) { subject.send($0) }
          }
          together(
            {
              ledger.send(0) { subject.send($0) }
              check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
              ledger.hasEnded()
            },
            { close(1) }, { close(2) })
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `closing loses nothing, whichever way and however often`(_ place: Place) {
      explore("send, drain and discard, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement)
          together(
            { for number in 1...3 { ledger.send(number) { subject.send($0) } } },
            {
              ledger.willClose()
              subject.close(.drain)
            },
            {
              ledger.willClose()
              subject.close(.discard)
              ledger.hasDiscarded()
              check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
              ledger.hasEnded()
            })
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a sender that waits for room gets it, or learns that the reactor is closed`(_ place: Place) {
      explore("blocking sends and close, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement, capacity: 1)
          let send = { @Sendable (sender: Int) in
            for number in 0..<3 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          together(
            { send(0) }, { send(1) },
            {
              ledger.willClose()
              subject.close()
              check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
              ledger.hasEnded()
            })
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a mailbox that is closed while it grows loses nothing`(_ place: Place) {
      explore("close and grow, \(place)", schedules: 400) {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, capacity: 16,
            onMutate: { _, parcel in if parcel.id == 0 { sleep(.seconds(1)) } })
          together(
            { for number in 0..<10 { ledger.send(number) { subject.send($0) } } },
            { for number in 10..<12 { ledger.send(number) { subject.send($0) } } },
            {
              ledger.willClose()
              subject.close()
              check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
              ledger.hasEnded()
            })
        }
        ledger.verify()
      }
    }

    @Test(arguments: [Closing.drain, .discard])
    func `a reactor that is closed while its loop is shut down ends`(_ closing: Closing) {
      explore("\(closing) and shutdown, on a loop") {
        let ledger = Ledger()
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          together(
            { for number in 0..<2 { ledger.send(number) { subject.send($0) } } },
            {
              ledger.willClose()
              loop.shutdown()
            },
            {
              ledger.willClose()
              subject.close(closing)
              check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
              ledger.hasEnded()
            })
        }
        ledger.verify()
      }
    }

    @Test func `a loop that is shut down while others send loses nothing`() {
      explore("send and shutdown, on a loop") {
        let ledger = Ledger()
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          together(
            { send(0) }, { send(1) },
            {
              ledger.willClose()
              loop.shutdown()
            })
        }
        ledger.verify()
      }
    }
  }
}
