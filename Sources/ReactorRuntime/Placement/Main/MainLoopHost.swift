import Dispatch
import ReactorCore
import Synchronization

/// The main loop: rounds that run in blocks of Dispatch's main queue, one block per burst.
///
/// Whoever submits something rings the bell, and who rings first brings a block into the queue. The block runs
/// rounds until nothing is left, and then unrings.
///
///     submitter                          block
///     ─────────                          ─────
///     push                               rounds, until nothing is left
///     rung.exchange(true)                rung.exchange(false)
///     was false: bring a block           something there, and rung.exchange(true) was false: go on
///
/// Nothing is forgotten: both exchange the same word. A submitter that comes before the block's exchange has
/// pushed before it, and the block sees that; one that comes after it finds false, and brings a block.
final class MainLoopHost: Sendable {
  static let shared: MainLoopHost = {
    do {
      return try MainLoopHost()
    } catch {
      fatalError("the main loop cannot be made: \(error)")
    }
  }()

  let stepper: LoopStepper
  let poller: Poller
  let watches: WatchTable
  let bell: MainQueueSignal
  let stopping: EventDescriptor
  /// Whether ``run(handling:)`` is in progress. Relaxed: only the main thread does more than look.
  let runs = Atomic(false)
  /// Watches the poller, while nobody runs the loop, for timers and descriptors.
  private let source = SystemMutex<DispatchSourceBox?>(nil)

  var loop: Loop { stepper.loop }

  private init() throws(CoreError) {
    let bell = try MainQueueSignal()
    let poller = try Poller()
    stopping = try EventDescriptor()
    let state = try LoopState(
      name: "main", waiting: .parking, turnLimit: 1024, jobCapacity: 1 << 20, bell: { bell.ring() },
      roundHere: { MainLoopHost.shared.runsRoundHere() })
    stepper = LoopStepper(of: state)
    watches = WatchTable(poller)
    self.bell = bell
    self.poller = poller
  }

  func stop() { stopping.signal() }

  /// A block of the main queue.
  func runBlock() {
    // Others that wait in the main queue have their turn between.
    if !runRounds(upTo: 16) { bell.bringBlock() }
  }

  /// Runs rounds until nothing is left; false if they were too many. On the main queue.
  func runRounds(upTo limit: Int) -> Bool {
    for _ in 0..<limit where stepper.step() == 0 {
      if rests() { return true }
    }
    return false
  }

  private func rests() -> Bool {
    let rest = stepper.rest
    if !rest.isResting { return false }
    // Without the bell, rounds are run for a timer, or to be sure that nothing is left.
    if bell.unring() {
      loop.state.monitor.notePark()
      loop.state.monitor.noteWakes(total: bell.rings)
    }
    if loop.state.intake.isWaiting, bell.tryTakeOverSpilled() { return false }
    poller.setTimer(rest.deadline)
    if rest.deadline != nil { watchPoller() }
    return true
  }

  /// For who waits for room in a mailbox of this loop: code on the main queue would wait for itself.
  private func runsRoundHere() -> Bool {
    if loop.isCurrent || !MainScheduler.isCurrent { return false }
    _ = stepper.step()
    return true
  }
}

// MARK: Timers and descriptors

extension MainLoopHost {
  /// Sees to it that somebody polls: the main queue, unless the loop is run.
  func watchPoller() {
    if runs.load(ordering: .relaxed) { return }
    source.withLock { source in
      if source == nil { source = DispatchSourceBox(watching: poller.descriptor) { self.poll() } }
    }
  }

  /// From now on, who runs the loop polls.
  func unwatchPoller() {
    source.withLock { source in source = nil }
  }

  /// In the main queue, when the poller is readable.
  private func poll() {
    poller.wait(timeoutMilliseconds: 0) { tag, ready in perform(tag, ready) }
    // For the timers. Not by ringing: the rounds may have rung the bell themselves, and brought nothing.
    if !runRounds(upTo: 16) { bell.bringBlock() }
  }

  /// Calls who watches what is ready.
  func perform(_ tag: UInt64, _ ready: Poller.Interest) {
    let bodies = watches.bodies(tag, ready)
    if !bodies.isEmpty { stepper.perform { for body in bodies { body() } } }
  }
}

/// A source of Dispatch's that is cancelled when it goes away.
private final class DispatchSourceBox: @unchecked Sendable {
  // Unchecked: a source of Dispatch's is made for threads.
  private let source: any DispatchSourceRead

  init(watching descriptor: Int32, _ body: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
    source.setEventHandler(handler: body)
    source.resume()
  }

  deinit { source.cancel() }
}

/// The loop on the main thread.
extension MainLoopHost {
  /// What else is polled, beside the watched descriptors.
  private enum Tag {
    static let queue: UInt64 = 1 << 32
    static let signals: UInt64 = 2 << 32
    static let stop: UInt64 = 3 << 32
    static let bell: UInt64 = 4 << 32
  }

  func run(handling numbers: [Int32]) throws(MainLoopError) -> MainLoop.Ending {
    if !DedicatedThread.isFirst { throw .notTheMainThread }
    if loop.isCurrent || runs.load(ordering: .relaxed) { throw .runsAlready }
    if withUnsafeCurrentTask(body: { $0 != nil }) { throw .insideATask }
    let signals: CaughtSignals
    do { signals = try CaughtSignals(numbers) } catch { throw .signalRefused }
    let outcome = run(with: signals)
    signals.restore()
    return try outcome.get()
  }

  private func run(with signals: borrowing CaughtSignals) -> Result<MainLoop.Ending, MainLoopError> {
    runs.store(true, ordering: .relaxed)
    let added = [
      (MainQueue.descriptor, Tag.queue), (signals.descriptor, Tag.signals), (stopping.descriptor, Tag.stop),
      (bell.event?.descriptor, Tag.bell),
    ].compactMap { descriptor, tag in descriptor.map { ($0, tag) } }
    defer {
      for (descriptor, _) in added { poller.remove(descriptor) }
      runs.store(false, ordering: .relaxed)
      // Whoever runs the main queue next goes on.
      if !watches.isEmpty || stepper.rest.deadline != nil { watchPoller() }
    }
    unwatchPoller()
    for (descriptor, tag) in added {
      do {
        try poller.add(descriptor, for: .readable, tag: tag)
      } catch {
        return .failure(.descriptorRefused(error.code))
      }
    }
    let ending = runUntilItEnds(signals)
    drain()
    // What was told during this run does not end the next one.
    stopping.acknowledge()
    return .success(ending)
  }

  private func runUntilItEnds(_ signals: borrowing CaughtSignals) -> MainLoop.Ending {
    // What came before.
    MainQueue.run()
    var isResting = runRounds(upTo: 16)
    while true {
      var ready: Set<UInt64> = []
      poller.wait(timeoutMilliseconds: isResting ? -1 : 0) { tag, interest in
        ready.insert(tag)
        if tag < Tag.queue { perform(tag, interest) }
      }
      if ready.contains(Tag.signals), let signal = signals.take() { return .signal(signal) }
      if ready.contains(Tag.stop) { return .stopped }
      if ready.contains(Tag.bell) { bell.event?.acknowledge() }
      if ready.contains(Tag.queue) { MainQueue.run() }
      isResting = runRounds(upTo: 16)
    }
  }

  /// Does what was accepted.
  private func drain() {
    repeat { MainQueue.run() } while !runRounds(upTo: 16)
  }
}
