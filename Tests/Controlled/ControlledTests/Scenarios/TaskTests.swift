import ReactorRuntime
import Testing

extension Controlled {
  /// Tasks that send, ask and wait, beside threads that cancel and close: each goes on, once, and for a reason that is true.
  @Suite struct TaskTests {
    @Test(arguments: Place.allCases)
    func `a task that waits for room is resumed, or cancelled`(_ place: Place) {
      explore("suspended senders and a cancellation, \(place)", schedules: 400) {
        let ledger = Ledger()
        let tasks = Tasks()
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, capacity: 1,
            onMutate: { _, parcel in if parcel.id == 10 { sleep(.seconds(1)) } })
          let senders = (0..<3).map { sender in
            tasks.start {
              for number in 0..<2 {
                await ledger.send(sender * 2 + number) { parcel async throws(SendError) in
                  try await subject.sendSuspending(parcel)
                }
              }
            }
          }
          together(
            { ledger.send(10) { subject.send($0) } },
            {
              ledger.willCancel(2, 3)
              senders[1].cancel()
            })
          for sender in senders { sender.join() }
        }
        tasks.finish()
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a task with a deadline is served, or gives up, or learns of the end`(_ place: Place) {
      explore("suspended senders with deadlines and a close, \(place)", schedules: 400) {
        let ledger = Ledger()
        let tasks = Tasks()
        place.use { placement in
          let subject = Subject(
            ledger, on: placement, capacity: 1,
            onMutate: { _, parcel in if parcel.id == 0 { sleep(.seconds(2)) } })
          let senders = (0..<2).map { sender in
            tasks.start {
              for number in 0..<2 {
                await ledger.send(sender * 10 + number, within: .seconds(1)) {
                  parcel async throws(SendError) in
                  try await subject.sendSuspending(parcel, before: .now + .seconds(1))
                }
              }
            }
          }
          let waiter = tasks.start {
            await subject.waitUntilEnded()
            ledger.hasEnded()
          }
          together(
            { ledger.send(20) { subject.send($0) } },
            {
              ledger.willClose()
              subject.close()
            })
          for task in senders + [waiter] { task.join() }
        }
        tasks.finish()
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `each request gets one reply, which the state shows, or one true reason`(_ place: Place) {
      explore("requests, a cancellation and a close, \(place)", schedules: 400) {
        let log = RequestLog()
        let tasks = Tasks()
        place.use { placement in
          let teller = Teller(log, on: placement)
          let askers = (0..<2).map { number in
            tasks.start {
              await log.ask(number) { () async throws(AskError) -> Int in
                try await teller.ask { .add(log.parcel(number), $0) }
              } check: {
                teller.currentState
              }
            }
          }
          together(
            { log.askWithCallback(10, teller) },
            {
              log.willCancel(0)
              askers[0].cancel()
            },
            {
              log.willClose()
              teller.close(.discard)
            })
          for asker in askers { asker.join() }
        }
        tasks.finish()
        log.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a reply that is kept is given once, or dropped`(_ place: Place) {
      explore("kept replies, \(place)", schedules: 400) {
        let log = RequestLog()
        let tasks = Tasks()
        place.use { placement in
          let teller = Teller(log, on: placement, keeps: true)
          let asker = tasks.start {
            await log.ask(0) { () async throws(AskError) -> Int in
              try await teller.ask { .add(log.parcel(0), $0) }
            } check: {
              Int.max
            }
          }
          together(
            { log.askWithCallback(10, teller) },
            { for _ in 0..<2 { log.replyToKept(5) } },
            {
              log.willCancel(0)
              asker.cancel()
            })
          // The last references to what is kept.
          log.dropKept()
          if place == .caller {
            asker.join()
          } else {
            // A loop may still be about to keep it.
            while !asker.isOver {
              sleep(.seconds(1))
              log.dropKept()
            }
          }
        }
        log.dropKept()
        tasks.finish()
        log.verify()
      }
    }

    @Test func `an actor on a loop that is shut down runs every piece`() {
      explore("calls of an actor, and a closer of its loop", schedules: 400) {
        let jobs = JobLedger()
        let tasks = Tasks()
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let tally = Tally(on: loop)
          let callers = (0..<2).map { _ in
            tasks.start {
              for _ in 0..<2 { await tally.add() }
            }
          }
          together({ jobs.execute(0, on: loop) }, { jobs.shutDown(loop) })
          for caller in callers { caller.join() }
          let reader = tasks.start { check(await tally.count == 4, "a call of the actor was lost") }
          reader.join()
        }
        tasks.finish()
        jobs.verify()
      }
    }
  }
}

/// An actor whose executor is a loop.
private actor Tally {
  private let loop: Loop
  private(set) var count = 0
  private var isInside = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(on loop: Loop) { self.loop = loop }

  func add() {
    check(!isInside, "two calls of the actor run at the same time")
    isInside = true
    let before = count
    sleep(.nanoseconds(1))
    count = before + 1
    isInside = false
  }
}
