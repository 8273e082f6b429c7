import Glibc

/// How much more processor time of this thread `body` takes with four times as much to do: 4 if it takes a time in proportion to
/// `count`, 16 if it is its square. Of both, the least of three measurements counts.
public func growth(from count: Int, _ body: (Int) -> Void) -> Double {
  func least(_ count: Int) -> Int {
    (0..<3).map { _ in
      let before = usedTime()
      body(count)
      return usedTime() - before
    }.min() ?? 0
  }
  return Double(least(4 * count)) / Double(max(1, least(count)))
}

/// The processor time of this thread, in nanoseconds.
private func usedTime() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
