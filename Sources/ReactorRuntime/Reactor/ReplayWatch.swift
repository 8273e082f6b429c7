#if DEBUG
  import ReactorCore

  /// Decides after which replays two states are compared: at the first ones, then more rarely, since it takes as long as the states
  /// are large. The owner uses it.
  struct ReplayWatch: Sendable {
    /// At least every such replay is checked.
    static var longest: Int { 1024 }

    private var count = 0

    /// Counts a replay; returns whether to compare after it.
    mutating func countReplay() -> Bool {
      count += 1
      return count & (count - 1) == 0 || count % Self.longest == 0
    }
  }

  extension Runtime {
    /// Called when an earlier state was brought up to date by the mutations that had made the published one.
    @usableFromInline
    func checkReplay(_ replayed: State, _ published: State) {
      guard checks.replays.value.countReplay(), let published = published as? any Equatable else { return }
      // A state that is not equal to itself, such as one with a NaN, says nothing.
      if !isEqual(published, to: published) || isEqual(published, to: replayed) { return }
      warn(.impureReduce) { reactor, thread in
        """
        reduce of \(reactor) made two different states of equal ones with the same mutations, on \(thread). Readers see now \
        the one, now the other.
        """
      }
    }

    private func isEqual<Value: Equatable>(_ value: Value, to other: Any) -> Bool { value == other as? Value }
  }
#endif
