import Dispatch
import Glibc
import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport

/// What holds for the main loop however the main thread is run. Runs on a thread of its own, not the main thread.
public struct MainLoopChecks: Sendable {
  private let findings: Findings

  public init(_ findings: Findings) { self.findings = findings }

  public func runAll() {
    findings.expect(!MainLoop.isCurrent, "another thread is not the main loop")
    burstsWakeOnce()
    mainActorNeverWaitsForItself()
    otherThreadsWaitForRoom()
    jobsAndTimers()
    descriptors()
    eventsWhileItIsBusy()
    WatchChecks(findings).runAll()
    mainObservable()
  }

  /// What the closures of a ``MainObservable`` change.
  @MainActor private final class Seen {
    var elements: [Int] = []
  }

  private func mainObservable() {
    let subject = PublishSubject<Int>()
    let (isSubscribed, isDone) = (Gate(), Gate())
    Task { @MainActor [findings] in
      let seen = Seen()
      subject.observe(on: MainScheduler.instance).subscribe(
        onNext: { element in
          dispatchPrecondition(condition: .onQueue(.main))
          seen.elements.append(element)
        },
        onCompleted: {
          findings.expect(seen.elements == [1, 2], "closures on the main actor get the elements in order")
          isDone.open()
        })
      isSubscribed.open()
    }
    findings.expect(isSubscribed.wait(), "the main actor runs, and subscribes")
    for number in 1...2 { subject.onNext(number) }
    subject.onCompleted()
    findings.expect(isDone.wait(), "closures on the main actor are called")
  }

  private func burstsWakeOnce() {
    // Several, since each of them wakes the main loop once.
    let reactors = (0..<4).map { _ in Arrivals(capacity: 1024, findings) }
    findings.expect(waitUntilIdle(), "the main loop becomes idle")
    for round in 1...10 {
      let before = MainLoop.counters.wakes
      let (isHeld, mayGoOn) = (Gate(), Gate())
      DispatchQueue.main.async {
        isHeld.open()
        _ = mayGoOn.wait()
      }
      findings.expect(isHeld.wait(), "the main queue runs")
      let hasSent = Threads.run(4) { thread in
        for index in 0..<50 {
          for reactor in reactors {
            reactor.send(Arrivals.Arrival(thread: thread, index: round * 50 + index))
          }
        }
      }
      findings.expect(hasSent, "senders do not wait for the main loop")
      mayGoOn.open()
      let isReduced = Threads.yield { reactors.allSatisfy { $0.currentState.count == 200 * round } }
      findings.expect(isReduced, "a burst is reduced")
      findings.expect(waitUntilIdle(), "the main loop becomes idle after a burst")
      let wakes = MainLoop.counters.wakes - before
      findings.expect(wakes == 1, "a burst wakes once, and not \(wakes) times")
    }
    for (thread, reactor) in zip(0..<4, reactors) {
      let indices = reactor.currentState.filter { $0.thread == thread }.map(\.index)
      findings.expect(indices == Array(50..<550), "actions of one thread keep their order")
    }
  }

  /// Waits until the main loop is idle, and the block that found that has ended; returns false if that takes too long.
  private func waitUntilIdle() -> Bool {
    Threads.yield {
      let isBehind = Gate()
      DispatchQueue.main.async { isBehind.open() }
      let counters = MainLoop.counters
      return isBehind.wait() && MainLoop.counters == counters && counters.reactors == 0
        && counters.inbox == 0
    }
  }

  private func mainActorNeverWaitsForItself() {
    let reactor = Arrivals(capacity: 8, findings)
    let isDone = Gate()
    Task { @MainActor [findings] in
      findings.expect(!MainLoop.isCurrent, "the main actor alone is not inside of the main loop")
      for index in 0..<100 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) }
      await Task.yield()
      isDone.open()
    }
    findings.expect(isDone.wait(), "the main actor runs, and does not wait for itself")
    findings.expect(
      Threads.yield { reactor.currentState.count == 100 }, "what the main actor sent is reduced")
    findings.expect(
      reactor.currentState.map(\.index) == Array(0..<100), "what the main actor sent keeps its order")
  }

  private func otherThreadsWaitForRoom() {
    let reactor = Arrivals(capacity: 8, findings)
    let (isHeld, mayGoOn) = (Gate(), Gate())
    DispatchQueue.main.async {
      isHeld.open()
      _ = mayGoOn.wait()
    }
    findings.expect(isHeld.wait(), "the main queue runs")
    let isSent = Threads.start {
      for index in 0..<100 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) }
    }
    // Long enough for the sender to try everything that it does before it sleeps.
    findings.expect(Threads.yield { reactor.counters.waiting >= 8 }, "the mailbox fills")
    usleep(20_000)
    findings.expect(
      reactor.currentState.isEmpty, "a sender on another thread runs no turns of the main loop")
    mayGoOn.open()
    findings.expect(isSent.wait(), "a sender on another thread goes on when there is room")
    findings.expect(Threads.yield { reactor.currentState.count == 100 }, "what it sent is reduced")
  }

  private func jobsAndTimers() {
    let isDone = Gate(count: 2)
    do {
      try MainLoop.execute { [findings] in
        findings.expect(MainLoop.isCurrent, "a job is inside of the main loop")
        isDone.open()
      }
      let begin = ContinuousClock.now
      try MainLoop.schedule(after: .milliseconds(20)) { [findings] in
        findings.expect(ContinuousClock.now - begin >= .milliseconds(20), "a timer is not early")
        findings.expect(MainLoop.isCurrent, "a timer is inside of the main loop")
        isDone.open()
      }
      try MainLoop.schedule(after: .milliseconds(10)) { [findings] in
        findings.expect(false, "a cancelled timer does not run")
      }.dispose()
    } catch {
      findings.expect(false, "\(error)")
    }
    findings.expect(isDone.wait(), "jobs and timers run")
  }

  /// Keeps the main loop busy by one job in each round, and counts them.
  private final class Busy: Sendable {
    private let count = Atomic(0)
    private let isOver = Atomic(false)

    var rounds: Int { count.load(ordering: .relaxed) }

    func begin() {
      if isOver.load(ordering: .relaxed) { return }
      count.add(1, ordering: .relaxed)
      try? MainLoop.execute { self.begin() }
    }

    func end() { isOver.store(true, ordering: .relaxed) }
  }

  /// However many events have come since the main loop is busy, what waits in the main queue has its turn after as many rounds.
  private func eventsWhileItIsBusy() {
    let (busy, events) = (Busy(), Record<Void>())
    guard let event = try? EventDescriptor(),
      let watch = try? MainLoop.watch(
        event.descriptor, for: .readable,
        {
          event.acknowledge()
          events.append(())
        })
    else { return findings.expect(false, "a descriptor is watched") }
    busy.begin()
    for number in 1...20 {
      event.signal()
      findings.expect(Threads.yield { events.elements.count >= number }, "a busy main loop gets its events")
    }
    let (counts, isDone) = (Record<Int>(), Gate())
    DispatchQueue.main.async {
      counts.append(busy.rounds)
      DispatchQueue.main.async {
        counts.append(busy.rounds)
        isDone.open()
      }
    }
    findings.expect(isDone.wait(), "a busy main loop lets the main queue go on")
    busy.end()
    let rounds = counts.elements.last.map { $0 - counts.elements[0] } ?? .max
    // `MainLoop.run()` runs as many beside those of the block.
    findings.expect(rounds <= 64, "the main queue has its turn after a few rounds, and not after \(rounds)")
    watch.dispose()
    withExtendedLifetime(event) {}
  }

  private func descriptors() {
    guard let event = try? EventDescriptor(), let writable = try? EventDescriptor() else {
      return findings.expect(false, "there are descriptors")
    }
    let (isRead, isWritable) = (Gate(count: 3), Gate())
    do {
      let reading = try MainLoop.watch(event.descriptor, for: .readable) { [findings] in
        findings.expect(MainLoop.isCurrent, "a watch is called inside of the main loop")
        findings.expect(TurnMark.isSet, "a watch is marked as a job, so a send in it does not wait for room")
        event.acknowledge()
        isRead.open()
      }
      let writing = SerialDisposable()
      writing.disposable = try MainLoop.watch(writable.descriptor, for: .writable) {
        writing.dispose()
        isWritable.open()
      }
      let begin = ContinuousClock.now
      while !isRead.isOpen, ContinuousClock.now - begin < .seconds(patience) {
        event.signal()
        usleep(1000)
      }
      findings.expect(isRead.isOpen, "a watch for reading is called")
      findings.expect(isWritable.wait(), "a watch for writing is called")
      reading.dispose()
    } catch {
      findings.expect(false, "\(error)")
    }
    do {
      _ = try MainLoop.watch(-1, for: .readable) {}
      findings.expect(false, "a number that is no descriptor is refused")
    } catch {
      findings.expect(
        error == .descriptorRefused(EBADF), "a number that is no descriptor is refused with the reason")
    }
  }
}
