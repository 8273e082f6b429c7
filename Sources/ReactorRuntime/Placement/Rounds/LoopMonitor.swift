import ReactorCore
import Synchronization

/// What a loop shows of itself to other threads: counters, and whose turns it runs.
///
/// Only who runs the rounds writes the counters, by a load and a store; others read them at any time. All
/// relaxed: each is a number of its own.
@usableFromInline
final class LoopMonitor: Sendable {
  @usableFromInline let turns = Atomic<Int>(0)
  @usableFromInline let actions = Atomic<Int>(0)
  @usableFromInline let longestTurn = Atomic<Int64>(0)
  /// When the loop last finished something, or last looked in vain: of ``MonotonicTime``.
  @usableFromInline let heartbeat = Atomic(MonotonicTime.now)
  let jobs = Atomic<Int>(0)
  /// How many of the jobs and timers that count are done with.
  let tasksDone = Atomic<Int>(0)
  let tasksNow = Atomic<Int>(0)
  let parks = Atomic<Int>(0)
  let wakes = Atomic<Int>(0)
  /// Whose turns it runs; others look at it under its lock. No reference leaves that: the last one must go on
  /// the loop.
  @usableFromInline let hosted = WatchedList<Scheduled>(capacity: 64)

  @usableFromInline
  init() {}

  @inlinable
  static func add(_ amount: Int, to counter: borrowing Atomic<Int>) {
    counter.store(counter.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  /// After a turn that was not in vain.
  @inlinable
  func noteTurn(of count: Int) {
    Self.add(1, to: turns)
    Self.add(count, to: actions)
    noteEnd()
  }

  /// After something that may have been long.
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

  /// Nothing was to be done until now: what comes begins here.
  @usableFromInline
  func beat() { heartbeat.store(MonotonicTime.now, ordering: .relaxed) }
}

// MARK: Sleep

extension LoopMonitor {
  /// Nothing is left, and from now on whoever submits something has to wake the loop.
  @usableFromInline
  func notePark() { Self.add(1, to: parks) }

  /// - Parameter total: How often it was woken so far, modulo 2^31.
  @usableFromInline
  func noteWakes(total: UInt32) {
    let before = UInt32(truncatingIfNeeded: wakes.load(ordering: .relaxed))
    Self.add(Int((total &- before) & 0x7fff_ffff), to: wakes)
  }
}

/// What a loop has done so far, and what it has to do: numbers that were read one after the other while it
/// went on.
public struct LoopCounters: Sendable, Hashable {
  /// The loop's name.
  public let name: String
  /// Turns in which something was done, of all reactors together.
  public let turns: Int
  /// What was done in them: actions, mutations from elsewhere, observers that came.
  public let actions: Int
  /// Jobs and timers that were run.
  public let jobs: Int
  /// The longest turn, job or timer. Overestimated by a few microseconds if the loop was idle before it.
  public let longestTurn: Duration
  /// How often the thread got ready to sleep.
  public let parks: Int
  /// How often somebody woke it, each time with a system call: at most once per park.
  public let wakes: Int
  /// Reactors that it holds because they have, or just had, something to do.
  public let hosted: Int
  /// Reactors and jobs that were handed over and that it has not looked at yet.
  public let intake: Int
  /// Jobs and timers that wait; cancelled timers count until they are swept.
  public let waitingJobs: Int
}

extension LoopCounters: CustomStringConvertible {
  public var description: String {
    """
    \(name): turns \(turns), actions \(actions), jobs \(jobs), longest \(longestTurn), parks \(parks), \
    wakes \(wakes), hosted \(hosted), intake \(intake), waiting jobs \(waitingJobs)
    """
  }
}

extension Loop {
  /// What the loop has done so far. Any thread; the loop is not stopped for it.
  public var counters: LoopCounters { state.counters }
}

extension LoopState {
  var counters: LoopCounters {
    let intake = intake.wasCounts
    return LoopCounters(
      name: name, turns: monitor.turns.load(ordering: .relaxed),
      actions: monitor.actions.load(ordering: .relaxed), jobs: monitor.jobs.load(ordering: .relaxed),
      longestTurn: .nanoseconds(monitor.longestTurn.load(ordering: .relaxed)),
      parks: monitor.parks.load(ordering: .relaxed), wakes: monitor.wakes.load(ordering: .relaxed),
      hosted: monitor.hosted.wasCount, intake: intake.reactors + intake.jobs,
      waitingJobs: monitor.tasksNow.load(ordering: .relaxed))
  }
}
