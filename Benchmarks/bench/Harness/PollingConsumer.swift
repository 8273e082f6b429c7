import CBenchmarkLimits

extension Quota {
  /// Reduces on the calling thread: calls `drain`, which reduces what is ready and says whether there was
  /// anything, until all items are in.
  ///
  /// Finding nothing, it looks again at once for a while, then yields: with more threads than cores the
  /// producer that it waits for may not be running.
  @inline(__always)
  func poll(into tally: inout Tally, _ drain: (inout Tally) -> Bool) throws -> Totals {
    var idle = IdleWait()
    while tally.count < total {
      if drain(&tally) {
        idle.reset()
      } else if idle.wait() {
        try checkDeadline(reduced: tally.count)
      }
    }
    return tally.totals
  }
}
