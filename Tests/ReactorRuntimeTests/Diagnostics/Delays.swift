import ReactorCore

/// Times that something waits for. The test decides when they end.
final class Delays: Sendable {
  private let waiting = SystemMutex<[(duration: Duration, end: @Sendable () -> Void)]>([])

  /// Those that have begun, and not ended.
  var durations: [Duration] { waiting.withLock { $0.map(\.duration) } }

  func callAfter(_ duration: Duration, _ end: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.append((duration, end)) }
  }

  /// Ends those that have begun, and returns their number.
  @discardableResult
  func end() -> Int {
    let ending = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for (_, end) in ending { end() }
    return ending.count
  }
}
