import Dispatch
import Glibc
import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport

/// What holds for `MainLoop.run()`. Runs on the main thread.
public struct RunChecks {
  private let findings: Findings

  public init(_ findings: Findings) { self.findings = findings }

  public func runAll() {
    insideOfAnotherQueueNeverWaitsForItself()
    topLevelNeverWaitsForItself()
    stoppedByAnotherThread()
    insideOfAnotherQueueNeverWaitsForItself()
    withoutDescriptors()
    stoppedBefore()
    stoppedFromATurnAfterWhatWasAccepted()
    stoppedBeforeWhatTheMainQueueGets()
    errors()
    for signal in [SIGTERM, SIGINT] { endedBy(signal) }
    signalsAreAsBefore()
    endedByASignalThatIsIgnoredOtherwise()
    signalsAreAsBefore()
    whatTurnsStartInheritsNoMask()
    refusedBesideATask()
    signalsAreAsBefore()
    signalAfterStop()
    signalsAreAsBefore()
    closesACollectionWhoseStatesComeHere()
  }

  /// Inside of a block of the main queue that other code runs, the main loop could not run that queue, and says so. A thread of its
  /// own.
  public static func refusesInsideOfABlock(_ findings: Findings) {
    let (hasReturned, goesOn) = (Gate(), Gate())
    DispatchQueue.main.async {
      do throws(MainLoopError) {
        let ending = try MainLoop.run(handling: [])
        findings.expect(
          false, "a run inside of a block of the main queue is refused, and does not end with \(ending)")
      } catch {
        findings.expect(error == .insideTheMainQueue, "it is refused with the reason, and not with \(error)")
      }
      hasReturned.open()
    }
    if !hasReturned.wait(seconds: 10) { MainLoop.stop() }
    findings.expect(hasReturned.wait(), "a run inside of a block returns")
    DispatchQueue.main.async { goesOn.open() }
    findings.expect(goesOn.wait(seconds: 10), "what waits in the main queue is run after the refusal")
  }

  /// The archive has room for fewer states than there are, and only this thread makes room there.
  private func closesACollectionWhoseStatesComeHere() {
    let archive = Arrivals(capacity: 8, findings)
    let sessions = KeyedReactors<Int, Session>(
      onPassivate: { key, _ in archive.send(Arrivals.Arrival(thread: 0, index: key)) },
      make: { _ in Session() })
    for key in 0..<100 { sessions.send(1, to: key) }
    do throws(ShutdownError) {
      try Shutdown.close([sessions, archive.closer()], before: .now + .seconds(60))
    } catch {
      findings.expect(false, "a collection ends while its states wait for the main loop: \(error)")
    }
    findings.expect(archive.currentState.count == 100, "every state was kept")
  }

  private final class Session: Reactor {
    typealias Action = Int
    let initialState = 0
    let runtime = Runtime<Int, Int, Int>()

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  private func expectEnding(_ expected: MainLoop.Ending) {
    do {
      let ending = try MainLoop.run()
      findings.expect(ending == expected, "run ends with \(expected), and not with \(ending)")
    } catch {
      findings.expect(false, "\(error)")
    }
  }

  /// Before the main loop runs.
  private func topLevelNeverWaitsForItself() {
    let reactor = Arrivals(capacity: 8, findings)
    for index in 0..<4 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) }
    findings.expect(reactor.currentState == [], "what is sent before the main loop runs waits")
    for index in 4..<50 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) }
    MainLoop.stop()
    expectEnding(.stopped)
    findings.expect(
      reactor.currentState.map(\.index) == Array(0..<50),
      "what was sent before the main loop runs is reduced in its order")
  }

  /// The main thread runs a block of another queue, so that it looks as if it were not on the main queue.
  private func insideOfAnotherQueueNeverWaitsForItself() {
    let queue = DispatchQueue(label: "other")
    let failures = Record<SendError>()
    let reactor = Arrivals(capacity: 8, failures: failures, findings)
    let sends: @Sendable () -> Void = {
      queue.sync { for index in 0..<20 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) } }
    }
    sends()
    findings.expect(
      failures.elements == Array(repeating: .deadlock, count: 12),
      "what would wait for the calling thread fails: \(failures.elements)")
    let block: @Sendable () -> Void = {
      // What waits from before takes part of the room.
      sends()
      MainLoop.stop()
    }
    DispatchQueue.main.async(execute: block)
    expectEnding(.stopped)
    findings.expect(
      reactor.currentState.count + failures.elements.count == 40, "each action is reduced or reported")
    findings.expect(failures.elements.allSatisfy { $0 == .deadlock }, "with the reason")
  }

  /// Without a free descriptor, the error is not about the signals.
  private func withoutDescriptors() {
    var shortage = DescriptorShortage()
    MainLoop.stop()
    // A run needs three.
    for available in 0..<3 {
      do throws(MainLoopError) {
        _ = try MainLoop.run()
        findings.expect(false, "a run with \(available) descriptors is refused")
      } catch {
        findings.expect(error == .descriptorRefused(EMFILE), "with \(available) descriptors it is \(error)")
      }
      shortage.free()
    }
    shortage.end()
    expectEnding(.stopped)
  }

  private func stoppedByAnotherThread() {
    let isDone = Threads.start { [findings] in
      MainLoopChecks(findings).runAll()
      MainLoop.stop()
    }
    expectEnding(.stopped)
    findings.expect(isDone.wait(), "the main loop runs until it is stopped")
  }

  private func stoppedBefore() {
    try? MainLoop.execute {
      MainLoop.stop()
      MainLoop.stop()
    }
    expectEnding(.stopped)
    // The second of the two stops must not end this run.
    let isStopped = Shared(Record<Bool>())
    let timer = try? MainLoop.schedule(after: .milliseconds(20)) {
      isStopped.value.append(true)
      MainLoop.stop()
    }
    expectEnding(.stopped)
    findings.expect(timer != nil && isStopped.value.elements == [true], "a stop ends one run")
    MainLoop.stop()
    expectEnding(.stopped)
  }

  private func stoppedFromATurnAfterWhatWasAccepted() {
    let reactor = Arrivals(capacity: 1024, findings)
    for index in 0..<100 {
      reactor.send(Arrivals.Arrival(thread: 0, index: index))
      if index == 10 { try? MainLoop.execute { MainLoop.stop() } }
    }
    expectEnding(.stopped)
    findings.expect(reactor.currentState.count == 100, "what was accepted is reduced before it returns")
    reactor.send(Arrivals.Arrival(thread: 0, index: 100))
    findings.expect(reactor.currentState.count == 100, "what is sent after the run waits")
    MainLoop.stop()
    expectEnding(.stopped)
    findings.expect(
      reactor.currentState.count == 101, "what was sent after the run is reduced in the next one")
  }

  /// Jobs and blocks of the main queue that enqueue each other, since the run was stopped; and a block that never ends.
  private func stoppedBeforeWhatTheMainQueueGets() {
    let ran = Record<Int>()
    try? MainLoop.execute {
      MainLoop.stop()
      Self.enqueue(20, ran)
    }
    expectEnding(.stopped)
    findings.expect(
      ran.elements == Array((0...20).reversed()), "what the last turns enqueue is run: \(ran.elements)")
    let repeats = Repeating()
    try? MainLoop.execute {
      MainLoop.stop()
      repeats.enqueue()
    }
    expectEnding(.stopped)
    findings.expect(repeats.count >= 1000, "a block that enqueues itself is run many times")
    repeats.end()
  }

  /// Appends the numbers down to 0, each in a block of the main queue that a job has enqueued.
  private static func enqueue(_ number: Int, _ ran: Record<Int>) {
    let block: @Sendable () -> Void = {
      ran.append(number)
      try? MainLoop.execute { if number > 0 { enqueue(number - 1, ran) } }
    }
    DispatchQueue.main.async(execute: block)
  }

  /// A block of the main queue that enqueues itself again.
  private final class Repeating: Sendable {
    private let times = Atomic(0)
    private let isOver = Atomic(false)

    var count: Int { times.load(ordering: .relaxed) }

    func enqueue() {
      if isOver.load(ordering: .relaxed) { return }
      let block: @Sendable () -> Void = {
        self.times.add(1, ordering: .relaxed)
        self.enqueue()
      }
      DispatchQueue.main.async(execute: block)
    }

    func end() { isOver.store(true, ordering: .relaxed) }
  }

  private func errors() {
    let found = Record<MainLoopError>()
    let run: @Sendable () -> Void = {
      do throws(MainLoopError) { _ = try MainLoop.run() } catch { found.append(error) }
    }
    try? MainLoop.execute(run)
    let isDone = Threads.start {
      run()
      Task { @MainActor in
        run()
        MainLoop.stop()
      }
    }
    expectEnding(.stopped)
    findings.expect(isDone.wait(), "another thread is refused")
    findings.expect(
      found.elements.count == 3 && found.elements.contains(.notTheMainThread)
        && found.elements.count { $0 == .runsAlready } == 2,
      "each wrong call throws its error: \(found.elements)")
    do throws(MainLoopError) {
      _ = try MainLoop.run(handling: [SIGTERM, 9999])
      findings.expect(false, "a number that is no signal is refused")
    } catch {
      findings.expect(error == .signalRefused, "a number that is no signal is refused with the reason")
    }
  }

  private func endedBy(_ signal: Int32) {
    let reactor = Arrivals(capacity: 1024, findings)
    let (isRunning, isDone) = (Gate(), Gate())
    // Before the run the signal would end the process.
    findings.expect((try? MainLoop.execute { isRunning.open() }) != nil, "a job is accepted before the run")
    // A thread that does not block the signal, so the kernel may choose it.
    _ = Threads.start {
      for index in 0..<100 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) }
      _ = isRunning.wait()
      // To this thread, or to the process.
      if signal == SIGINT { pthread_kill(pthread_self(), signal) } else { kill(getpid(), signal) }
      isDone.open()
    }
    expectEnding(.signal(signal))
    findings.expect(isDone.wait(), "a signal only ends the run")
    findings.expect(reactor.currentState.count == 100, "what was accepted is reduced before it returns")
  }

  /// What a service does that no second signal may end during its shutdown.
  private func endedByASignalThatIsIgnoredOtherwise() {
    signal(SIGTERM, SIG_IGN)
    try? MainLoop.execute { kill(getpid(), SIGTERM) }
    expectEnding(.signal(SIGTERM))
    // Otherwise this ends the process.
    kill(getpid(), SIGTERM)
    signal(SIGTERM, SIG_DFL)
  }

  /// Programs and threads that a turn starts have the mask of its thread.
  private func whatTurnsStartInheritsNoMask() {
    try? MainLoop.execute { [findings] in
      findings.expect(!Self.isAnyBlocked, "a signal is not blocked in a turn")
      findings.expect(!Self.hasUsualEffect(SIGTERM), "a signal is handled meanwhile")
      MainLoop.stop()
    }
    expectEnding(.stopped)
  }

  private func refusedBesideATask() {
    let isDone = Gate()
    Task.detached { [findings] in
      let ending = try? await MainLoop.run()
      findings.expect(ending == .stopped, "the first run goes on until it is stopped")
      isDone.open()
    }
    findings.expect(Threads.yield { !Self.hasUsualEffect(SIGTERM) }, "a task runs the main loop")
    // So that this thread does not wait if it is not refused.
    MainLoop.stop()
    do throws(MainLoopError) {
      _ = try MainLoop.run()
      findings.expect(false, "a run beside that of a task is refused")
    } catch {
      findings.expect(error == .runsAlready, "a run beside that of a task is refused, but with \(error)")
    }
    let isOver = Threads.yield {
      MainQueue.run()
      return isDone.isOpen
    }
    findings.expect(isOver, "the run of the task ends")
  }

  /// A signal that comes when the run is being stopped ends nothing, so it must have its usual effect afterwards.
  private func signalAfterStop() {
    Self.received.store(0, ordering: .relaxed)
    signal(SIGTERM) { _ in RunChecks.received.add(1, ordering: .relaxed) }
    MainLoop.stop()
    // Of so many rounds the last ones come after the run has found that it is stopped.
    Self.raise(afterRounds: 100)
    expectEnding(.stopped)
    findings.expect(
      Threads.yield { Self.received.load(ordering: .relaxed) == 1 },
      "a signal that comes during the end of a run has its usual effect")
    signal(SIGTERM, SIG_DFL)
  }

  private static func raise(afterRounds count: Int) {
    try? MainLoop.execute {
      if count > 0 { return raise(afterRounds: count - 1) }
      kill(getpid(), SIGTERM)
      // Until the thread that catches signals has it.
      usleep(20_000)
    }
  }

  private static let received = Atomic(0)

  private static var isAnyBlocked: Bool {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    return [SIGTERM, SIGINT].contains { sigismember(&mask, $0) == 1 }
  }

  private static func hasUsualEffect(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    return action.__sigaction_handler.sa_handler == nil
  }

  private func signalsAreAsBefore() {
    findings.expect(!Self.isAnyBlocked, "signals are not blocked afterwards")
    for signal in [SIGTERM, SIGINT] {
      findings.expect(Self.hasUsualEffect(signal), "signals have their usual effect again")
    }
  }
}
