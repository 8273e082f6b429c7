import ReactorRuntime
import Testing

extension Controlled {
  /// The lives of loops: what is accepted is run before the end, what is refused is not run, and nothing sleeps while there is
  /// work.
  @Suite struct LoopTests {
    @Test func `a loop that two threads close runs what it has accepted`() {
      explore("jobs, sends and two closers") {
        let (ledger, jobs) = (Ledger(), JobLedger())
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          together(
            { for number in 0..<2 { ledger.send(number) { subject.send($0) } } },
            { for number in 0..<2 { jobs.execute(number, on: loop) } },
            {
              ledger.willClose()
              jobs.shutDown(loop)
            },
            {
              ledger.willClose()
              jobs.shutDown(loop)
            })
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test func `what a loop sends and submits to itself is run although it is closed`() {
      explore("jobs and sends from inside, and a closer") {
        let (ledger, farther, jobs) = (Ledger(), Ledger(), JobLedger())
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let other = Subject(farther, on: placement)
          let subject = Subject(
            ledger, on: placement,
            onMutate: { _, parcel in
              if parcel.id == 0 { jobs.execute(2, on: loop) }
              farther.send(parcel.id, isFromInside: true) { other.send($0) }
            })
          together(
            { for number in 0..<2 { ledger.send(number) { subject.send($0) } } },
            {
              jobs.execute(0, on: loop) {
                jobs.execute(1, on: loop) { ledger.send(50) { subject.send($0) } }
              }
            },
            {
              ledger.willClose()
              farther.willClose()
              jobs.shutDown(loop)
            })
        }
        ledger.verify()
        farther.verify()
        jobs.verify()
      }
    }

    @Test func `a loop whose closing has begun refuses other threads at once`() {
      explore("jobs beside a beginning close") {
        let (ledger, jobs) = (Ledger(), JobLedger())
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          together(
            { for number in 0..<2 { jobs.execute(number, on: loop) } },
            {
              ledger.willClose()
              jobs.beginClosing(loop)
              jobs.execute(2, on: loop)
              ledger.send(1) { subject.send($0) }
            },
            {
              ledger.willClose()
              jobs.beginClosing(loop)
              jobs.execute(3, on: loop)
            })
          jobs.shutDown(loop)
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test func `a turn schedules several reactors of its loop`() {
      explore("reactors that a turn schedules, and a closer") {
        let (ledger, jobs) = (Ledger(), JobLedger())
        let others = (0..<3).map { _ in Ledger() }
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let receivers = others.map { Subject($0, on: placement) }
          let subject = Subject(
            ledger, on: placement,
            onMutate: { _, parcel in
              // The first one is sent to by another thread, too, which may find the loop closed and discard.
              for (index, receiver) in receivers.enumerated() {
                others[index].send(parcel.id, isFromInside: index > 0) { receiver.send($0) }
              }
            })
          together(
            { for number in 0..<2 { ledger.send(number) { subject.send($0) } } },
            { for number in 5..<7 { others[0].send(number) { receivers[0].send($0) } } },
            {
              for ledger in others + [ledger] { ledger.willClose() }
              jobs.shutDown(loop)
            })
        }
        for ledger in others + [ledger] { ledger.verify() }
        jobs.verify()
      }
    }

    @Test(arguments: Place.loops) func `a loop that sleeps is woken for each send and each job`(
      _ place: Place
    ) {
      explore("sends and jobs with pauses, \(place)") {
        let (ledger, jobs) = (Ledger(), JobLedger())
        place.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          together(
            {
              ledger.send(0) { subject.send($0) }
              sleep(.seconds(2))
              ledger.send(1) { subject.send($0) }
            },
            {
              jobs.execute(0, on: loop)
              sleep(.seconds(2))
              jobs.execute(1, on: loop)
            })
          // The loop is open: a wake-up that came too late is none.
          ledger.verifyAtRest()
          jobs.verifyAtRest()
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test func `one send beside one close of a loop`() {
      explore("one send and a closer of the loop", schedules: 2000) {
        let (ledger, jobs) = (Ledger(), JobLedger())
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          together(
            { ledger.send(0) { subject.send($0) } },
            {
              ledger.willClose()
              jobs.shutDown(loop)
            })
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test func `an observer that comes late is told the last state before a shutdown returns`() {
      explore("a late observer, and a closer") {
        let (ledger, jobs) = (Ledger(), JobLedger())
        nonisolated(unsafe) var told = 0
        nonisolated(unsafe) var isSubscribed = false
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          let subject = Subject(ledger, on: placement)
          let observers = Holder<CompositeDisposable>()
          observers.object = CompositeDisposable()
          together(
            {
              let observer = subject.state.subscribe(onNext: { _ in told += 1 })
              isSubscribed = true
              _ = observers.object?.insert(observer)
            },
            {
              ledger.willClose()
              let wasSubscribed = isSubscribed
              jobs.shutDown(loop)
              check(!wasSubscribed || told > 0, "an observer was not told the state before the end")
            },
            {
              ledger.willClose()
              let wasSubscribed = isSubscribed
              jobs.shutDown(loop)
              check(!wasSubscribed || told > 0, "an observer was not told the state before the end")
            })
          check(told == 1, "an observer was told \(told) states")
          observers.object?.dispose()
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test func `two loops that send to each other end`() {
      explore("two loops, and a closer of each") {
        let (ledger, farther) = (Ledger(), Ledger())
        let jobs = (JobLedger(), JobLedger())
        Place.loop.use { first in
          Place.loop.use { second in
            guard case .loop(let one) = first, case .loop(let two) = second else { return }
            // What goes back has other numbers, and ends there.
            let back = WeakHolder<Subject>()
            let far = Subject(
              farther, on: second, capacity: 1,
              onMutate: { _, parcel in
                if let near = back.object { ledger.send(10 + parcel.id) { near.send($0) } }
              })
            let near = Subject(
              ledger, on: first, capacity: 1,
              onMutate: { _, parcel in
                if parcel.id < 10 { farther.send(parcel.id) { far.send($0) } }
              })
            back.object = near
            together(
              { for number in 0..<3 { ledger.send(number) { near.send($0) } } },
              {
                ledger.willClose()
                jobs.0.shutDown(one)
              },
              {
                farther.willClose()
                jobs.1.shutDown(two)
              })
          }
        }
        ledger.verify()
        farther.verify()
      }
    }

    // MARK: A loop without a thread

    @Test func `the descriptor of a hosted loop is readable while there is work`() {
      explore("a host beside two senders") {
        let (ledger, jobs) = (Ledger(), JobLedger())
        do {
          // There are descriptors.
          let hosted = try! HostedLoop(turnLimit: 2)
          let subject = Subject(ledger, on: hosted.placement, capacity: 8)
          together(
            { for number in 0..<2 { ledger.send(number) { subject.send($0) } } },
            {
              jobs.execute(0, on: hosted.loop)
              ledger.send(10) { subject.send($0) }
            },
            { for _ in 0..<3 { _ = hosted.run(rounds: 1) } })
          // As a foreign loop does: it calls the hosted one only while the descriptor is readable.
          while isReadable(hosted.descriptor) { _ = hosted.run() }
          ledger.verifyAtRest()
          ledger.willClose()
          hosted.shutdown()
          jobs.noteEnd()
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test func `a hosted loop that is closed makes its descriptor readable until it has ended`() {
      explore("a host beside a sender and a closer") {
        let (ledger, jobs) = (Ledger(), JobLedger())
        do {
          let hosted = try! HostedLoop()
          let subject = Subject(ledger, on: hosted.placement)
          together(
            { ledger.send(1) { subject.send($0) } },
            {
              ledger.willClose()
              jobs.beginClosing(hosted.loop)
              jobs.execute(0, on: hosted.loop)
            },
            { for _ in 0..<2 { _ = hosted.run(rounds: 1) } })
          while isReadable(hosted.descriptor) { _ = hosted.run() }
          check(hosted.finishClosing(before: .now).isEmpty, "the loop has not ended")
          jobs.noteEnd()
        }
        ledger.verify()
        jobs.verify()
      }
    }

    @Test func `two threads that shut a hosted loop down both wait for its end`() {
      explore("a host beside two closers") {
        let (ledger, jobs) = (Ledger(), JobLedger())
        do {
          let hosted = try! HostedLoop()
          let subject = Subject(ledger, on: hosted.placement)
          let shutDown = { @Sendable in
            ledger.willClose()
            jobs.beginClosing(hosted.loop)
            hosted.shutdown()
            jobs.noteEnd()
          }
          together(
            {
              ledger.send(1) { subject.send($0) }
              jobs.execute(0, on: hosted.loop)
            },
            { shutDown() }, { shutDown() })
        }
        ledger.verify()
        jobs.verify()
      }
    }
  }
}
