/// What is on its way to a loop beside the ring, under a lock.
@usableFromInline
struct LoopMail: Sendable {
  /// Those that found the ring full, and those that the loop's own turns scheduled.
  var reactors: [Scheduled] = []
  var jobs: [LoopJob] = []
  var timers: [LoopTimer] = []
  /// How many jobs and timers that count were ever taken in.
  var submitted = 0
  /// Whether the loop will never look again.
  var isOver = false

  var isEmpty: Bool { reactors.isEmpty && jobs.isEmpty && timers.isEmpty }

  /// Answers how many.
  mutating func removeCancelledTimers() -> Int {
    let before = timers.count
    timers.removeAll { $0.wasTaken }
    submitted -= before - timers.count
    return before - timers.count
  }

  /// Takes out what is there.
  mutating func take() -> LoopMail {
    defer {
      reactors = []
      jobs = []
      timers = []
    }
    return self
  }
}
