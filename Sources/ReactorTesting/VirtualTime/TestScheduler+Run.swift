import ReactorRuntime

/// Letting time go by.
extension TestScheduler {
  /// Runs all there is, and what that schedules, until nothing is left or ``stop()`` is called. Does nothing
  /// if it is called while time goes by.
  public func start() { _ = run(until: nil) }

  /// Runs what there is up to a time, that included; then it is that time.
  public func advanceTo(_ time: TestTime) {
    let clock = clock
    precondition(time >= clock, "time cannot go back from \(clock) to \(time)")
    let hasRun = run(until: time)
    precondition(hasRun, "advanceTo(_:) was called while time goes by")
  }

  /// Runs what there is in so many ticks.
  public func advanceBy(_ ticks: TestTime) { advanceTo(clock + ticks) }

  /// Sets the clock on by so many ticks, and runs nothing.
  public func sleep(_ ticks: TestTime) {
    precondition(ticks >= 0, "time cannot go back by \(-ticks)")
    state.withLock { $0.clock += ticks }
  }

  /// Ends the run after the present action. What was left out is run by the next one. Any thread.
  public func stop() { state.withLock { $0.mustStop = true } }

  /// False if it is running already.
  private func run(until end: TestTime?) -> Bool {
    let begins = state.withLock { state in
      if state.isRunning { return false }
      state.isRunning = true
      state.mustStop = false
      return true
    }
    guard begins else { return false }
    let begin = clock
    var count = 0
    while let action = takeNext(until: end) {
      action()
      count += 1
      if count == actionLimit, hasMore(until: end) {
        stop()
        onRunaway(messageOfRunaway(since: begin))
      }
    }
    return true
  }

  private func takeNext(until end: TestTime?) -> Agenda.Action? {
    state.withLock { state in
      if state.mustStop {
        state.isRunning = false
        return nil
      }
      if let time = state.agenda.nextTime(), time <= end ?? .max, let next = state.agenda.takeNext() {
        state.clock = max(state.clock, time)
        return next.action
      }
      state.clock = max(state.clock, end ?? state.clock)
      state.isRunning = false
      return nil
    }
  }

  private func hasMore(until end: TestTime?) -> Bool {
    state.withLock { state in state.agenda.nextTime().map { $0 <= end ?? .max } ?? false }
  }

  private func messageOfRunaway(since begin: TestTime) -> String {
    let clock = clock
    let cause =
      clock == begin
      ? "something schedules itself again for the same time, \(clock)"
      : "something periodic is never disposed; it is \(clock), and the run began at \(begin)"
    return """
      Problem: virtual time does not come to an end: \(actionLimit) actions, and more to do.
      Likely cause: \(cause).
      Remedy: dispose it, use advanceTo(_:) or start(created:subscribed:disposed:create:), or raise actionLimit.
      """
  }
}
