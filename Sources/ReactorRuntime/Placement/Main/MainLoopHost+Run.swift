import ReactorCore
import Synchronization

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
