import ReactorCore

#if Metrics
  import Synchronization

  /// Measures some of the turns of a reactor, for metrics.
  @usableFromInline
  final class TurnTimes: Sendable {
    /// Only the owner uses it.
    private struct Sampling {
      /// How many turns that did something ended since the last one that was measured.
      var turns = 0
      /// When the turn that is measured began; 0 if there is none.
      var start: Int64 = 0
    }

    private let sampling = OwnerIsolated(Sampling())
    /// How many turns one measured turn stands for. Relaxed: a setting.
    private let interval: Int
    private let record: @Sendable (_ nanoseconds: Int64) -> Void

    /// - Parameters:
    ///   - interval: Of how many turns one is measured.
    ///   - record: Called by the owner, at the end of a measured turn.
    init(every interval: Int, _ record: @escaping @Sendable (_ nanoseconds: Int64) -> Void) {
      self.interval = interval
      self.record = record
      // So that the first turn is measured: a reactor may have few.
      sampling.value.turns = interval
    }

    /// At the beginning of a turn. The owner.
    @usableFromInline
    func begin() {
      if sampling.value.turns >= interval { sampling.value.start = MonotonicTime.now }
    }

    /// At the end of a turn. The owner.
    ///
    /// - Parameter processed: How many actions and steps it processed. A turn that found none is not counted.
    @usableFromInline
    func end(_ processed: Int) {
      let start = sampling.value.start
      sampling.value.start = 0
      if processed == 0 { return }
      sampling.value.turns += 1
      if start == 0 { return }
      sampling.value.turns = 1
      record(max(0, MonotonicTime.now - start))
    }
  }

  extension Runtime {
    /// Measures turns from now on. Any thread.
    ///
    /// - Returns: False if they are measured already.
    func time(with times: TurnTimes) -> Bool { turnTimes.setIfNil(times) === times }
  }
#endif

extension Runtime {
  /// Notes that a turn begins, if turns are measured. Empty without the package trait `Metrics`. The owner.
  @inlinable
  @inline(__always)
  func beginTiming() {
    #if Metrics
      turnTimes.use { $0.begin() }
    #endif
  }

  /// Notes that a turn ends. The owner.
  @inlinable
  @inline(__always)
  func endTiming(_ processed: Int) {
    #if Metrics
      turnTimes.use { $0.end(processed) }
    #endif
  }
}
