import ReactorRuntime
import Testing

extension Controlled {
  /// Closing at the moments that matter: a closer that is stopped between two of its steps, and a loop that ends meanwhile.
  /// Sleeps in virtual time bring the threads to these moments together, so that few decisions are left.
  @Suite struct ClosingTests {
    @Test(arguments: Place.allCases)
    func `the streams of a reactor are disposed of when everything accepted was reduced`(_ place: Place) {
      explore("a send beside a close, and a stream that is told the end, \(place)", schedules: 300) {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, notesEnd: true,
            onMutate: { _, parcel in if parcel.id == 0 { sleep(.seconds(1)) } })
          together(
            {
              ledger.send(0) { subject.send($0) }
            },
            {
              sleep(.milliseconds(500))
              ledger.send(1) { subject.send($0) }
              sleep(.milliseconds(500))
              ledger.send(2) { subject.send($0) }
            },
            {
              sleep(.seconds(1))
              ledger.willClose()
              subject.close()
            })
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a drain does not take back a discard`(_ place: Place) {
      explore("drain and discard during a long turn, \(place)", schedules: 300) {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, capacity: 4,
            onMutate: { _, parcel in if parcel.id == 0 { sleep(.seconds(1)) } })
          together(
            { ledger.send(0) { subject.send($0) } },
            {
              sleep(.milliseconds(500))
              for number in 1...3 { ledger.send(number) { subject.send($0) } }
              ledger.willClose()
              subject.close(.discard)
              ledger.hasDiscarded()
            },
            {
              sleep(.milliseconds(500))
              ledger.willClose()
              subject.close(.drain)
            })
        }
        ledger.verify()
      }
    }

    @Test func `a job of the loop is refused like other senders by a reactor that was closed`() {
      explore("a job that sends behind a close", schedules: 200) {
        let (ledger, jobs) = (Ledger(), JobLedger())
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          let send = { @Sendable (number: Int) in ledger.send(number) { subject.send($0) } }
          together(
            {
              send(0)
              jobs.execute(0, on: loop) { send(1) }
            },
            {
              ledger.willClose()
              subject.close()
              ledger.hasClosed()
              jobs.execute(1, on: loop) { send(2) }
            })
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test func `every thread that shuts a hosted loop down returns after the actions for its end`() {
      explore("an observer that waits for the end, and two closers of a hosted loop", schedules: 200) {
        let (ledger, jobs) = (Ledger(), JobLedger())
        nonisolated(unsafe) var told = 0
        do {
          // There are descriptors.
          let hosted = try! HostedLoop()
          let subject = Subject(ledger, on: hosted.placement)
          ledger.willClose()
          jobs.beginClosing(hosted.loop)
          let observer = subject.state.subscribe(onNext: { _ in told += 1 })
          let shutDown = { @Sendable in
            hosted.shutdown()
            jobs.noteEnd()
            check(told > 0, "an observer was not told the state before the end")
          }
          together(shutDown, shutDown)
          check(told == 1, "an observer was told \(told) states")
          observer.dispose()
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test(arguments: [Closing.drain, .discard])
    func `a reactor ends after the end of its loop if the loop's own jobs have sent to it`(_ closing: Closing)
    {
      explore("\(closing) beside a loop that ends, and a job that sends", schedules: 400) {
        let (ledger, jobs) = (Ledger(), JobLedger())
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          jobs.execute(0, on: loop) {
            sleep(.seconds(1))
            ledger.send(1) { subject.send($0) }
            // The loop has not ended while the others discard what they can.
            sleep(.seconds(1))
          }
          ledger.willClose()
          jobs.beginClosing(loop)
          together(
            {
              sleep(.seconds(1))
              ledger.send(0) { subject.send($0) }
            },
            {
              sleep(.seconds(1))
              subject.close(closing)
              check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
              ledger.hasEnded()
            })
        }
        ledger.verify()
        jobs.verify()
      }
    }
  }
}
