import ReactorCore

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
      waitingJobs: monitor.errandsNow.load(ordering: .relaxed))
  }
}
