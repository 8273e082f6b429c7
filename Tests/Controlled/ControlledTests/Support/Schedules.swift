import ControlledScheduler

/// Runs the body under schedules until one fails, and returns that execution.
func firstFailure(
  of schedules: some Sequence<Schedule>, _ body: @escaping @Sendable () -> Void
) -> Execution? {
  for schedule in schedules {
    let execution = schedule.run(body)
    if execution.failure != nil { return execution }
  }
  return nil
}

/// Runs all schedules with so many delays at most, or stops at the first that fails. Returns how many it ran.
func search(
  delays: Int, _ body: @escaping @Sendable () -> Void
) -> (count: Int, failed: Execution?) {
  var count = 0
  ctl_search_begin()
  repeat {
    let execution = Schedule(.systematic(delays: delays)).run(body)
    count += 1
    if execution.failure != nil { return (count, execution) }
  } while ctl_search_advance()
  return (count, nil)
}

/// The first seeds, at random; every other one with late stores if `lateStores` is true.
func randomSchedules(_ count: Int, lateStores: Bool = false) -> [Schedule] {
  (0..<count).map { Schedule(.random, seed: UInt64($0), lateStores: lateStores) }
}
