import ReactorRuntime

/// Removes keys whose time has come although nobody asks for them: in the shards of one loop, one after another.
///
/// It looks for them ten times a second. While more are due, it goes on with pauses that are three times as long as what it did: a
/// quarter of the time is its own, and the rest is left to the clients.
final class Expirer: Sendable {
  private static let interval = Duration.milliseconds(100)
  /// A pass takes a few milliseconds at most. What takes longer has waited: for clients, the disk or a processor.
  private static let longestPause = Duration.milliseconds(20)
  private let worker: Worker
  private let shards: [any Shard]

  init(of shards: [any Shard], on worker: Worker) {
    self.worker = worker
    self.shards = shards
  }

  /// Begins, and goes on until the loop ends.
  func start() { begin(after: Self.interval) }

  private func begin(after pause: Duration) {
    // Refused by a loop that ends.
    _ = try? worker.loop.schedule(after: pause) { [self] in
      expire(shards[...], since: .now, areMoreDue: false)
    }
  }

  private func expire(_ rest: ArraySlice<any Shard>, since start: ContinuousClock.Instant, areMoreDue: Bool) {
    guard let shard = rest.first else {
      return begin(after: areMoreDue ? min(start.duration(to: .now) * 3, Self.longestPause) : Self.interval)
    }
    shard.expire(at: worker.now()) { [self] mayHaveMore in
      expire(rest.dropFirst(), since: start, areMoreDue: areMoreDue || mayHaveMore)
    }
  }
}
