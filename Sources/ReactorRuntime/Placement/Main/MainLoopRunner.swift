import Dispatch
import ReactorCore
import Synchronization

/// Runs the main loop: its rounds run in blocks of Dispatch's main queue, one block per burst.
///
/// A thread that submits something raises the signal, and the first one to raise it puts a block into the queue. The
/// block runs rounds until nothing is left, and then lowers the signal: see ``RoundsSignal``.
final class MainLoopRunner: Sendable {
  static let shared: MainLoopRunner = {
    do {
      let runner = try MainLoopRunner()
      WaitGraph.findQueues(by: LoopHost.queuesHere)
      // Relaxed: a thread that finds it false has used no main loop.
      isMade.store(true, ordering: .relaxed)
      return runner
    } catch {
      fatalError("the main loop cannot be made: \(error)")
    }
  }()

  private static let isMade = Atomic(false)

  /// The main loop, if there is one and the calling thread is on the main queue: then it is this thread that runs its rounds.
  static var loopHere: LoopState? {
    isMade.load(ordering: .relaxed) && MainScheduler.isCurrent ? shared.loop.state : nil
  }

  /// The main queue, for `WaitGraph`.
  static var queue: ObjectIdentifier { ObjectIdentifier(MainLoopRunner.self) }

  /// Contains the main queue if it can run no rounds while the calling thread waits. So also inside of a block of another queue that
  /// the main thread runs by `sync`: there it runs no rounds itself, since the code around that block may hold what their turns need.
  /// (After `dispatchMain()` the queue has no thread, and such a block is like any code of another queue.)
  ///
  /// - Parameter loop: The loop whose rounds the thread runs while it waits; nil if it runs none.
  static func queuesHere(running loop: LoopState? = nil) -> [ObjectIdentifier] {
    guard isMade.load(ordering: .relaxed), MainScheduler.isCurrent || DedicatedThread.isFirst,
      loop !== shared.loop.state
    else { return [] }
    return [queue]
  }

  let stepper: LoopStepper
  let poller: Poller
  let watches: WatchTable
  let signal: MainQueueSignal
  let stopping: EventDescriptor
  /// Whether ``run(handling:)-66hfa`` is in progress. Relaxed: only the main thread changes it. Another thread reads it after
  /// it has added a watch under the lock of the table, and the main thread checks the table after it has set this to
  /// false: so one of the two sees the other, and makes the main queue poll. The watches of the loop are followed by a round.
  let isRunning = Atomic(false)
  /// Whether one of the two forms of `run` is in progress. It refuses a second one, since one thread at a time may catch
  /// signals. Acquires and releases: the next one finds what this one has restored.
  let isInUse = Atomic(false)
  /// Whether a block of the main queue has run no rounds: see ``isNested``. Relaxed: the main queue.
  private let isLeftOut = Atomic(false)
  /// Watches the poller for timers and descriptors, unless ``run(handling:)-66hfa`` is in progress.
  private let source = SystemMutex<DispatchSourceBox?>(nil)

  var loop: Loop { stepper.loop }

  /// There is one in a process. (Tests under the controlled scheduler make others, since each of their executions begins with
  /// loops that nothing has used.)
  init() throws(CoreError) {
    let runner = WeakCell<MainLoopRunner>()
    let signal = try MainQueueSignal(of: runner)
    let poller = try Poller()
    stopping = try EventDescriptor()
    let state = try LoopState(
      name: "main", waiting: .parking, turnLimit: 1024, jobCapacity: 1 << 20, signal: { signal.raise() },
      host: LoopHost {
        runner.value?.tryRunRound()
      } next: {
        WaitGraph.Emptier(inside: Self.queue)
      },
      polling: .byHost { descriptor in runner.value?.watchPoller(of: descriptor) ?? false })
    stepper = LoopStepper(of: state)
    watches = WatchTable(poller)
    self.signal = signal
    self.poller = poller
    runner.value = self
  }

  func stop() { stopping.signal() }

  /// A block of the main queue.
  func runBlock() {
    signal.beginBlock()
    if isNested { return }
    // After so many rounds, what else waits in the main queue has its turn.
    if !runRounds(upTo: 16) { signal.enqueueBlock() }
  }

  /// Whether the main queue is run from inside of a round: by a body that runs a run loop, as Foundation's `Process` does while it
  /// waits. What has come is left to what runs that round: ``runRounds(upTo:)`` does not lower the signal before, and ``tryRunRound()``
  /// enqueues another block.
  private var isNested: Bool {
    if !loop.isCurrent { return false }
    isLeftOut.store(true, ordering: .relaxed)
    return true
  }

  /// Runs rounds until nothing is left; returns false if the limit came first. On the main queue.
  func runRounds(upTo limit: Int) -> Bool {
    for _ in 0..<limit where stepper.step() == 0 {
      if tryBecomeIdle() { return true }
    }
    return false
  }

  /// Lowers the signal, so that what comes enqueues a block; returns false if something is left or has come.
  private func tryBecomeIdle() -> Bool {
    let (isIdle, deadline) = signal.lower(after: stepper)
    if !isIdle { return false }
    poller.setTimer(deadline)
    // For watches, too: what they are posted with runs a round. A thread that made them may have found that `run` polls, though
    // that was just ending.
    if deadline != nil || loop.state.inbox.watches.isSet { watchPoller() }
    return true
  }

  /// Runs a round if the calling thread is on the main queue, and not inside of a round; returns how many actions, jobs and
  /// timers it ran, or nil. A sender there that waits for room in a mailbox of this loop would otherwise wait for itself.
  private func tryRunRound() -> Int? {
    if loop.isCurrent || !MainScheduler.isCurrent { return nil }
    defer { if isLeftOut.exchange(false, ordering: .relaxed) { signal.enqueueBlock() } }
    return stepper.step(besideHost: true)
  }
}

/// Puts a block into the main queue, once until it is lowered: see ``MainLoopRunner``.
final class MainQueueSignal: Sendable {
  /// Weak, because the runner has this. It is set before another thread has the loop.
  private let runner: WeakCell<MainLoopRunner>
  private let signal = RoundsSignal()
  /// Whether a block is in the queue; there is never a second one. A block that begins clears it, and so sees what was submitted before
  /// another one was left out: both acquire and release.
  private let isEnqueued = Atomic(false)
  /// Only where the main queue itself has no descriptor to poll: readable when the signal is raised.
  let event: EventDescriptor?

  init(of runner: WeakCell<MainLoopRunner>) throws(CoreError) {
    self.runner = runner
    event = MainQueue.descriptor == nil ? try EventDescriptor() : nil
  }

  /// Enqueues a block, unless the signal is raised already. Any thread.
  func raise() { signal.raise { enqueueBlock() } }

  /// See ``RoundsSignal/lower(after:)``. The main queue.
  func lower(after stepper: LoopStepper) -> (isIdle: Bool, deadline: Int64?) { signal.lower(after: stepper) }

  /// Enqueues a block, unless one is in the queue. Any thread.
  func enqueueBlock() {
    guard let runner = runner.value else { return }
    if !isEnqueued.exchange(true, ordering: .acquiringAndReleasing) {
      // Not a closure in the call, which would belong to the main actor: each block would check that it runs there.
      let block: @Sendable () -> Void = { runner.runBlock() }
      MainScheduler.noteUse(by: MainLoop.self)
      DispatchQueue.main.async(execute: block)
    }
    // Also if a block is there: without a descriptor of the queue, `run` does not run that block.
    event?.signal()
  }

  /// Called by a block before its rounds. The main queue.
  func beginBlock() { _ = isEnqueued.exchange(false, ordering: .acquiringAndReleasing) }
}

// MARK: Timers and descriptors

extension MainLoopRunner {
  /// See ``MainLoop/watch(_:for:_:)``. Any thread.
  func watch(
    _ descriptor: Int32, for readiness: MainLoop.Readiness, _ body: @escaping @Sendable () -> Void
  ) throws(MainLoopError) -> any Disposable {
    let watch = try watches.add(descriptor, for: readiness, body)
    watchPoller()
    return watch
  }

  /// Makes the main queue poll, unless ``run(handling:)-66hfa`` does.
  func watchPoller() {
    if isRunning.load(ordering: .relaxed) { return }
    source.withLock { source in
      if source == nil {
        MainScheduler.noteUse(by: MainLoop.self)
        source = DispatchSourceBox(watching: poller.descriptor) { [weak self] in self?.poll() }
      }
    }
  }

  /// Makes the rounds run while another poller is readable, and returns whether the system allows that. Any thread.
  func watchPoller(of descriptor: Int32) -> Bool {
    do { try poller.add(descriptor, for: .readable, tag: Tag.watches) } catch { return false }
    watchPoller()
    return true
  }

  /// Stops the main queue from polling: from now on ``run(handling:)-66hfa`` does.
  private func unwatchPoller() {
    source.withLock { source in source = nil }
  }

  /// In the main queue, when the poller is readable.
  private func poll() {
    if isNested { return }
    poller.wait(timeoutMilliseconds: 0) { tag, ready in perform(tag, ready) }
    // For the timers. It does not raise the signal: a round may have raised it without enqueuing a block.
    if !runRounds(upTo: 16) { signal.enqueueBlock() }
  }

  /// Calls what watches a descriptor that is ready; nothing if the tag is not that of a watch.
  private func perform(_ tag: UInt64, _ ready: Poller.Interest) {
    // Like the job itself, since the last references to what the bodies capture may end here.
    let outer = TurnMark.enter()
    defer { TurnMark.leave(outer) }
    let bodies = watches.bodies(tag, ready)
    if !bodies.isEmpty { stepper.perform { for body in bodies { body() } } }
  }
}

/// Whether the main queue has run a block.
private final class MainQueueProbe: Sendable {
  let hasRun = Atomic(false)
}

/// A source of Dispatch's that is cancelled when it goes away.
private final class DispatchSourceBox: @unchecked Sendable {
  // Unchecked: a source of Dispatch's may be used by any thread.
  private let source: any DispatchSourceRead

  init(watching descriptor: Int32, _ body: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
    source.setEventHandler(handler: body)
    source.resume()
  }

  deinit { source.cancel() }
}

// MARK: MainLoop.run()

extension MainLoopRunner {
  /// What else is polled, beside the watched descriptors.
  private enum Tag {
    static let queue: UInt64 = 1 << 32
    static let signals: UInt64 = 2 << 32
    static let stop: UInt64 = 3 << 32
    static let event: UInt64 = 4 << 32
    static let watches: UInt64 = 5 << 32
  }

  func run(handling numbers: [Int32]) throws(MainLoopError) -> MainLoop.Ending {
    if !DedicatedThread.isFirst { throw .notTheMainThread }
    if loop.isCurrent || isInUse.exchange(true, ordering: .acquiringAndReleasing) { throw .runsAlready }
    defer { isInUse.store(false, ordering: .releasing) }
    if withUnsafeCurrentTask(body: { $0 != nil }) { throw .insideATask }
    let signals = numbers.isEmpty ? nil : try SignalThread(catching: numbers)
    let outcome = run(with: signals)
    signals?.restore()
    return try outcome.get()
  }

  private func run(with signals: SignalThread?) -> Result<MainLoop.Ending, MainLoopError> {
    isRunning.store(true, ordering: .relaxed)
    let added = [
      (MainQueue.descriptor, Tag.queue), (signals?.descriptor, Tag.signals), (stopping.descriptor, Tag.stop),
      (signal.event?.descriptor, Tag.event),
    ].compactMap { descriptor, tag in descriptor.map { ($0, tag) } }
    defer {
      for (descriptor, _) in added { poller.remove(descriptor) }
      isRunning.store(false, ordering: .relaxed)
      // What runs the main queue next has to poll again.
      if !watches.isEmpty || loop.state.inbox.watches.isSet || stepper.checkForWork().deadline != nil {
        watchPoller()
      }
    }
    unwatchPoller()
    for (descriptor, tag) in added {
      do {
        try poller.add(descriptor, for: .readable, tag: tag)
      } catch {
        return .failure(.descriptorRefused(error.code))
      }
    }
    if !tryRunMainQueue() { return .failure(.insideTheMainQueue) }
    #if DEBUG
      // It may run the loop's work without the queue: see `MainQueue.descriptor`.
      QueueCheck.main.noteRun()
    #endif
    let ending = runUntilStopped(signals)
    runWhatIsLeft()
    // A stop that was requested during this run must not end the next one.
    stopping.acknowledge()
    return .success(ending)
  }

  /// Runs what came before. Returns false if the calling code is inside of the main queue, which then runs nothing here.
  private func tryRunMainQueue() -> Bool {
    if MainQueue.descriptor == nil { return true }
    let probe = MainQueueProbe()
    let block: @Sendable () -> Void = { probe.hasRun.store(true, ordering: .relaxed) }
    DispatchQueue.main.async(execute: block)
    MainQueue.run()
    // Relaxed: this thread has stored it.
    if probe.hasRun.load(ordering: .relaxed) { return true }
    // What waits there was to be run by other code.
    MainQueue.signal()
    return false
  }

  private func runUntilStopped(_ signals: SignalThread?) -> MainLoop.Ending {
    var isIdle = runRounds(upTo: 16)
    while true {
      var ready: Set<UInt64> = []
      poller.wait(timeoutMilliseconds: isIdle ? -1 : 0) { tag, interest in
        ready.insert(tag)
        if WatchTable.isWatch(tag) { perform(tag, interest) }
      }
      if ready.contains(Tag.signals), let signal = signals?.take() { return .signal(signal) }
      if ready.contains(Tag.stop) { return .stopped }
      if ready.contains(Tag.event) { signal.event?.acknowledge() }
      if ready.contains(Tag.queue) { MainQueue.run() }
      isIdle = runRounds(upTo: 16)
    }
  }

  /// Runs what was accepted, and what that leaves in the main queue. But the latter not for long: a block of the main queue that
  /// enqueues itself again would never be done.
  private func runWhatIsLeft() {
    let limit = MonotonicTime.after(.milliseconds(100))
    var isIdle = false
    repeat {
      MainQueue.run()
      isIdle = runRounds(upTo: 16)
    } while !isIdle || MonotonicTime.now < limit && MainQueue.isReady
  }
}
