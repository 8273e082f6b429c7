/// How long a connection that is to be closed waits for its client's system to take everything, and how often it looks.
struct Linger {
  private static let longestPause = Duration.milliseconds(200)
  private let deadline: ContinuousClock.Instant
  private var pause = Duration.milliseconds(5)

  init(atMost duration: Duration) { deadline = .now + duration }

  /// How long to wait before the next look: twice as long as before the last one. Nil once the time is over.
  mutating func nextPause() -> Duration? {
    let left = ContinuousClock.now.duration(to: deadline)
    if left <= .zero { return nil }
    pause = min(pause * 2, Self.longestPause)
    return min(pause, left)
  }
}
