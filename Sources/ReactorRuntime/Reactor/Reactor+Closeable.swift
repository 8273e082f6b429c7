extension Reactor {
  /// The end of this reactor as a part of ``Shutdown/close(_:before:)``.
  ///
  /// ```swift
  /// try Shutdown.close([orders.ending(), loop], before: .now + .seconds(10))
  /// ```
  ///
  /// - Parameter closing: As that of ``close(_:)``.
  public func ending(by closing: Closing = .drain) -> some Closeable {
    ReactorEnding(reactor: self, closing: closing)
  }
}

/// A reactor, and how it is to be closed.
private struct ReactorEnding<R: Reactor>: Closeable {
  let reactor: R
  let closing: Closing

  func beginClosing() { reactor.close(closing) }

  func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    let name = String(reflecting: R.self)
    if reactor.runtime.isRunHere { return [Unfinished(name: name, loop: nil, occupation: .closesItself)] }
    if reactor.waitUntilClosed(before: deadline) { return [] }
    let count = reactor.counters.waiting
    return [Unfinished(name: name, loop: nil, occupation: .waiting(actions: count))]
  }
}
