import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// The list of the threads that host loops.
@Suite struct HostThreadTests {
  @Test func `a host goes away as fast beside very many of one thread as beside a few`() {
    func duration(beside count: Int) -> Duration {
      let others = (0..<count).map { _ in HostThread(isHost: nil) }
      for other in others { other.note() }
      let begin = processorTime
      for _ in 0..<5000 { HostThread(isHost: nil).note() }
      let duration = processorTime - begin
      withExtendedLifetime(others) {}
      return duration
    }
    _ = duration(beside: 16)
    let few = leastOfThree { duration(beside: 16) }
    let many = leastOfThree { duration(beside: 1 << 14) }
    #expect(many < few * 10, "few: \(few), very many: \(many)")
  }

  @Test func `a thread runs the rounds of its loops in their order`() throws {
    let log = Record<Int>()
    let ended = Threads.start {
      let loops = (0..<20).compactMap { _ in try? HostedLoop { _ in } }
      #expect(loops.count == 20)
      for (number, hosted) in loops.enumerated() { try? hosted.loop.execute { log.append(number) } }
      // If a thread with the same token has left loops, those run, too.
      #expect(HostThread.runRounds() ?? 0 >= 20)
      withExtendedLifetime(loops) {}
    }
    #expect(ended.wait())
    #expect(log.elements == Array(0..<20))
  }

  @Test func `a thread that was the host does not run rounds of a loop that has another host`() {
    let (log, counts) = (Record<Int>(), Record<Int>())
    let isDone = Threads.start {
      guard let hosted = try? HostedLoop(onWake: { _ in }) else { return }
      hosted.run()
      let isTaken = Threads.start { hosted.run() }
      guard isTaken.wait(), (try? hosted.loop.execute { log.append(1) }) != nil else { return }
      _ = HostThread.runRounds()
      counts.append(log.elements.count)
      hosted.run()
      counts.append(log.elements.count)
    }
    #expect(isDone.wait())
    #expect(counts.elements == [0, 1])
  }

  @Test func `a signal for the rounds counts beyond 32 bits`() throws {
    let signal = RoundsSignal(raises: .max - 1)
    let stepper = try LoopStepper(turnLimit: 1)
    var calls = 0
    for _ in 0..<3 {
      signal.raise { calls += 1 }
      _ = signal.lower(after: stepper)
    }
    #expect(calls == 3)
    #expect(signal.raises == 1)
    stepper.shutdown()
  }

  @Test func `a host that delivers a stream does not wait for the loop that waits for this delivery`() throws
  {
    let loop = try Loop()
    let subject = PublishSubject<Int>()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let looped = Script(
      on: .loop(loop), capacity: 1, failures: failures,
      mutate: { _, action in
        if action == 1 {
          isInside.open()
          _ = mayGoOn.wait()
          for element in 0..<1100 { subject.onNext(100 + element) }
        }
        return .just(action)
      })
    looped.send(1)
    #expect(isInside.wait())
    while (try? looped.trySend(2)) != nil {}
    let bag = DisposeBag()
    subject.subscribe(onNext: { if $0 == 7 { looped.send(7) } }).disposed(by: bag)
    let isDone = Threads.start {
      let hosted = try? HostedLoop { _ in }
      subject.onNext(7)
      withExtendedLifetime(hosted) {}
    }
    var waiting: Int { looped.runtime.mailbox.overflow.use { $0.waiters.count } ?? 0 }
    #expect(Threads.yield { waiting == 1 })
    mayGoOn.open()
    #expect(isDone.wait())
    try loop.shutdown(before: .now + .seconds(patience))
    // The host is refused, or the loop exceeds the limit of the subject by an element.
    #expect(looped.currentState.filter { $0 == 7 }.count + failures.elements.count == 1)
    #expect(failures.elements.allSatisfy { $0 == .deadlock })
  }
}
