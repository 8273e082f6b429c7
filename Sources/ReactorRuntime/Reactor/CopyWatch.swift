#if DEBUG
  import ReactorCore

  /// Finds out whether copies of a state make its changes slow: whether `reduce` often takes much longer after
  /// `currentState` was read than otherwise. Then the change has copied what both shared. The owner uses it.
  struct CopyWatch: Sendable {
    /// From how many such changes on it is reported.
    static var limit: Int { 32 }
    /// What a change that copies a large state takes at least.
    static var shortest: Duration { .microseconds(100) }

    private var beginning: ContinuousClock.Instant?
    private var copies = 0
    private var followsCopy = false
    /// The shortest duration of a change without a copy before it.
    private var usual: Duration?
    private var slowChanges = 0

    /// Called before a change, with the number of copies that were made until now.
    mutating func begin(copies: Int) {
      followsCopy = copies != self.copies
      self.copies = copies
      beginning = .now
    }

    /// Called after a change. Returns whether it is time to report.
    mutating func end() -> Bool {
      guard let beginning else { return false }
      return note(.now - beginning, followsCopy: followsCopy)
    }

    mutating func note(_ duration: Duration, followsCopy: Bool) -> Bool {
      if !followsCopy {
        usual = min(usual ?? duration, duration)
        return false
      }
      guard let usual, duration >= Self.shortest, duration > usual * 8 else { return false }
      slowChanges += 1
      if slowChanges < Self.limit { return false }
      slowChanges = 0
      return true
    }
  }

  extension Runtime {
    func beginWatchingCopies() {
      if state.hasOnePlace { checks.copies.value.begin(copies: state.wasCopiedCount) }
    }

    func endWatchingCopies() {
      guard state.hasOnePlace, checks.copies.value.end() else { return }
      warn(.copiedState) { reactor, thread in
        """
        \(CopyWatch.limit) changes of the state of \(reactor) have copied a large part of it, the last one on \(thread), \
        since copies that currentState had returned were still alive.
        """
      }
    }
  }
#endif
