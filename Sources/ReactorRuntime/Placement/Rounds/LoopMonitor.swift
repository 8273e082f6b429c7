import ReactorCore
import Synchronization

/// What other threads may read of a loop: its counters, and whose turns it runs.
///
/// Only the thread that runs the rounds writes the counters, with a load and a store; any thread reads them. All
/// accesses are relaxed: each counter is a number of its own, and nothing else is read because of it.
@usableFromInline
final class LoopMonitor: Sendable {
  @usableFromInline let turns = Atomic<Int>(0)
  @usableFromInline let actions = Atomic<Int>(0)
  @usableFromInline let longestTurn = Atomic<Int64>(0)
  /// When the loop last finished something, or last found nothing to do: in the time of ``MonotonicTime``.
  @usableFromInline let heartbeat = Atomic(MonotonicTime.now)
  let jobs = Atomic<Int>(0)
  /// How many jobs and timers were run or removed, of those that ``InboxContents/submitted`` counts.
  let tasksDone = Atomic<Int>(0)
  /// How many jobs and timers the loop has taken in and not yet run.
  let tasksNow = Atomic<Int>(0)
  let parks = Atomic<Int>(0)
  let wakes = Atomic<Int>(0)
  /// The reactors that the loop owns. Other threads read the list under its lock, and copy no reference out of it: the
  /// last one must be dropped on the loop.
  @usableFromInline let reactors = WatchedList<LoopReactor>(capacity: 64)

  @usableFromInline
  init() {}

  @inlinable
  static func add(_ amount: Int, to counter: borrowing Atomic<Int>) {
    counter.store(counter.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  /// After a turn that did something.
  @inlinable
  func noteTurn(of count: Int) {
    Self.add(1, to: turns)
    Self.add(count, to: actions)
    noteEnd()
  }

  /// After something that may have taken long.
  @inlinable
  func noteEnd() {
    let now = MonotonicTime.now
    let length = now &- heartbeat.load(ordering: .relaxed)
    if length > longestTurn.load(ordering: .relaxed) { longestTurn.store(length, ordering: .relaxed) }
    heartbeat.store(now, ordering: .relaxed)
  }

  func noteJob() {
    Self.add(1, to: jobs)
    noteEnd()
  }

  /// Notes that there was nothing to do until now, so that what comes next is measured from here.
  @usableFromInline
  func beat() { heartbeat.store(MonotonicTime.now, ordering: .relaxed) }
}

// MARK: Sleep

extension LoopMonitor {
  /// Notes that nothing is left, and that from now on a thread that submits something has to wake the loop.
  @usableFromInline
  func notePark() { Self.add(1, to: parks) }

  /// - Parameter total: How often the loop was woken so far, modulo 2^31.
  @usableFromInline
  func noteWakes(total: UInt32) {
    let before = UInt32(truncatingIfNeeded: wakes.load(ordering: .relaxed))
    Self.add(Int((total &- before) & 0x7fff_ffff), to: wakes)
  }
}

/// What a loop has done so far, and what it has to do. The numbers are read one after the other while the loop goes on,
/// so they need not fit together.
public struct LoopCounters: Sendable, Hashable {
  /// The loop's name.
  public let name: String
  /// Turns in which something was done, counted over all reactors.
  public let turns: Int
  /// What was processed in them: actions, mutations from elsewhere, new observers.
  public let actions: Int
  /// Jobs, timers and bodies of watches that were run.
  public let jobs: Int
  /// How long the longest turn, job or timer took. A few microseconds too long if the loop was idle before it.
  public let longestTurn: Duration
  /// How often the thread got ready to sleep.
  public let parks: Int
  /// How often a sender woke it, each time with a system call: at most once for each park.
  public let wakes: Int
  /// Reactors that the loop owns because they have, or just had, something to do.
  public let reactors: Int
  /// Reactors and jobs that were submitted to the loop and that it has not taken in yet.
  public let inbox: Int
  /// Jobs and timers that were taken in and wait. Cancelled timers count until they are removed.
  public let waitingJobs: Int
}

extension LoopCounters: CustomStringConvertible {
  public var description: String {
    """
    \(name): turns \(turns), actions \(actions), jobs \(jobs), longest \(longestTurn), parks \(parks), \
    wakes \(wakes), reactors \(reactors), inbox \(inbox), waiting jobs \(waitingJobs)
    """
  }
}

extension Loop {
  /// What the loop has done so far. Any thread. It takes the lock of the loop's inbox for a moment, and waits for no turn or job.
  public var counters: LoopCounters { state.counters }
}

extension LoopState {
  var counters: LoopCounters {
    let waiting = inbox.wasCounts
    return LoopCounters(
      name: name, turns: monitor.turns.load(ordering: .relaxed),
      actions: monitor.actions.load(ordering: .relaxed), jobs: monitor.jobs.load(ordering: .relaxed),
      longestTurn: .nanoseconds(monitor.longestTurn.load(ordering: .relaxed)),
      parks: monitor.parks.load(ordering: .relaxed), wakes: monitor.wakes.load(ordering: .relaxed),
      reactors: monitor.reactors.wasCount, inbox: waiting.reactors + waiting.jobs,
      waitingJobs: monitor.tasksNow.load(ordering: .relaxed))
  }
}

// MARK: What has not ended

extension LoopState {
  /// Finds what has not ended, and what it is doing: the reactors, jobs and rounds of a loop that is closed. Any thread.
  ///
  /// - Parameter isRunByOthers: Whether the loop has no thread of its own.
  func findUnfinished(isRunByOthers: Bool) -> [Unfinished] {
    let time = Duration.nanoseconds(
      max(0, MonotonicTime.now - monitor.heartbeat.load(ordering: .relaxed)))
    let running = runningToken
    var found: [(reactor: any AnyObject.Type, occupation: Unfinished.Occupation)] = []
    monitor.reactors.forEachLocked { scheduled in
      let isRunning = running == UInt(bitPattern: scheduled.runtime)
      found.append(
        (
          type(of: scheduled.reactor),
          isRunning ? .busy(time) : .waiting(actions: scheduled.perform(.count))
        ))
    }
    var unfinished = found.map {
      Unfinished(name: String(reflecting: $0.reactor), loop: name, occupation: $0.occupation)
    }
    let waiting = inbox.wasCounts
    if waiting.reactors > 0 {
      unfinished.append(
        Unfinished(name: "reactors", loop: name, occupation: .waiting(actions: waiting.reactors)))
    }
    let jobs = waiting.jobs + monitor.tasksNow.load(ordering: .relaxed)
    if running == Self.runningJob {
      unfinished.append(Unfinished(name: "jobs", loop: name, occupation: .busy(time)))
    } else if jobs > 0 {
      unfinished.append(Unfinished(name: "jobs", loop: name, occupation: .waiting(actions: jobs)))
    }
    if running == Self.runningEndActions {
      unfinished.append(Unfinished(name: "loop", loop: name, occupation: .busy(time)))
    } else if unfinished.isEmpty || (isRunByOthers && running == 0) {
      let occupation = isRunByOthers ? Unfinished.Occupation.notRun : .waiting(actions: 0)
      unfinished.append(Unfinished(name: "loop", loop: name, occupation: occupation))
    }
    return unfinished
  }
}
