/// How much more processor time of this thread `body` takes with four times as much to do: 4 if it takes a time in proportion to
/// `count`, 16 if it is its square. Of both, the least of three measurements counts.
public func growth(from count: Int, _ body: (Int) -> Void) -> Double {
  func least(_ count: Int) -> Duration {
    leastOfThree {
      let before = processorTime
      body(count)
      return processorTime - before
    }
  }
  return least(4 * count) / max(.nanoseconds(1), least(count))
}

/// The least of three measurements: what comes from elsewhere, such as other tests, only makes them larger.
public func leastOfThree(_ measure: () throws -> Duration) rethrows -> Duration {
  var least = try measure()
  for _ in 0..<2 { least = min(least, try measure()) }
  return least
}
