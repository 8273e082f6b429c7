/// How much more processor time of this thread `body` takes with four times as much to do: 4 if it takes a time in proportion to
/// `count`, 16 if it is its square. Of both, the least of three measurements counts.
public func growth(from count: Int, _ body: (Int) -> Void) -> Double {
  func least(_ count: Int) -> Duration {
    (0..<3).map { _ in
      let before = processorTime
      body(count)
      return processorTime - before
    }.min() ?? .zero
  }
  return least(4 * count) / max(.nanoseconds(1), least(count))
}
