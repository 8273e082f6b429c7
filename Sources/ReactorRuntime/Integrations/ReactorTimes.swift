#if Metrics
  import Metrics
  import ReactorCore

  extension CounterMeters {
    /// Adds two timers of swift-metrics for a reactor, which a backend shows as histograms:
    ///
    /// - `<label>_queue_delay`: how long something that is sent waits before the reactor processes it. Each ``record()`` sends a
    ///   probe through the mailbox. If an earlier probe is still waiting, its arrival counts for both, each from its own time on;
    ///   so a reactor that is stuck for a minute shows as many samples as were due in that minute (1024 at most).
    /// - `<label>_turn_time`: how long a turn takes, of one turn in `turns`. It is recorded at the end of that turn, by the thread
    ///   that runs it.
    ///
    /// A reactor without these pays one load per turn if the package trait `Metrics` is on, and nothing if it is off. One
    /// with them pays two clock readings for a measured turn. A probe counts as an item in ``ReactorCounters``; on placement
    /// ``Placement/caller`` the thread that records may process what others have sent, as any sender.
    ///
    /// Reactors with the same label and dimensions share the timers: so many reactors of one kind need no dimension each, which most
    /// backends take badly. They are removed when the last of these reactors is closed or gone. Any thread; once for each reactor, a
    /// second call stops the program with a message.
    ///
    /// - Parameters:
    ///   - label: The beginning of the timers' labels.
    ///   - dimensions: The dimensions of the timers.
    ///   - reactor: The reactor. It is not retained.
    ///   - turns: Of how many turns one is measured. Positive.
    @inlinable
    public func addTimes<R: Reactor>(
      _ label: String, dimensions: [(String, String)] = [], of reactor: R, every turns: Int = 64
    ) {
      // A closure made here, where the code that runs turns is specialised for the reactor.
      addTimes(label, dimensions, of: reactor, every: turns) { reactor, run, discard in
        reactor.runtime.enqueueStep(of: reactor, run, orDiscard: { _ in discard() })
      }
    }

    @usableFromInline
    func addTimes<R: Reactor>(
      _ label: String, _ dimensions: [(String, String)], of reactor: R, every turns: Int,
      enqueue: @escaping QueueProbe.Enqueue<R>
    ) {
      guard turns > 0 else {
        fatalError(
          """
          Problem: of \(turns) turns of \(R.self), one is to be measured.
          Likely cause: the number was computed.
          Remedy: a positive number; 1 measures each turn.
          """)
      }
      let (delaysLabel, timesLabel) = ("\(label)_queue_delay", "\(label)_turn_time")
      let delays = shared.use(delaysLabel, dimensions) {
        Timer(label: delaysLabel, dimensions: dimensions, factory: factory)
      }
      let times = shared.use(timesLabel, dimensions) {
        Timer(label: timesLabel, dimensions: dimensions, factory: factory)
      }
      let isFirst = reactor.runtime.time(with: TurnTimes(every: turns) { times.recordNanoseconds($0) })
      guard isFirst else {
        fatalError(
          """
          Problem: the turns of a \(R.self) are to be measured twice.
          Likely cause: addTimes was called twice for the same reactor.
          Remedy: call it once, with all dimensions.
          """)
      }
      let probe = QueueProbe { delays.recordNanoseconds($0) }
      add(label) { [weak reactor, shared] in
        if let reactor, probe.send(to: reactor, by: enqueue) { return NoCounters() }
        shared.drop(delays, delaysLabel, dimensions) { $0.destroy() }
        shared.drop(times, timesLabel, dimensions) { $0.destroy() }
        return nil
      }
    }
  }

  /// The counters of a source that has timers instead.
  private struct NoCounters: Sendable {}

  /// Measures how long something waits in a mailbox: it is sent, and arrives.
  @usableFromInline
  final class QueueProbe: Sendable {
    /// Puts a step into the mailbox: the first closure, or the second if that will not run. Returns why it was refused.
    @usableFromInline
    typealias Enqueue<R> =
      @Sendable (R, @escaping @Sendable () -> Void, @escaping @Sendable () -> Void) ->
      SendError?

    private struct Contents {
      /// The times for which a probe was due that has not arrived.
      var due: [Int64] = []
      var isInMailbox = false
    }

    private static var limit: Int { 1024 }
    private let contents = SystemMutex(Contents())
    private let record: @Sendable (_ nanoseconds: Int64) -> Void

    init(_ record: @escaping @Sendable (_ nanoseconds: Int64) -> Void) { self.record = record }

    /// Sends the probe, unless it is on its way. Returns false if the reactor is closed. Any thread.
    func send<R>(to reactor: R, by enqueue: Enqueue<R>) -> Bool {
      let isFree = contents.withLock { contents in
        if contents.due.count < Self.limit { contents.due.append(MonotonicTime.now) }
        defer { contents.isInMailbox = true }
        return !contents.isInMailbox
      }
      if !isFree { return true }
      guard let refusal = enqueue(reactor, { self.arrive() }, { self.withdraw() }) else { return true }
      // There is no room: what was due is recorded with the next probe that gets through.
      withdraw()
      return refusal != .closed
    }

    private func arrive() {
      let now = MonotonicTime.now
      let due = contents.withLock { contents in
        defer { contents = Contents() }
        return contents.due
      }
      for time in due { record(max(0, now - time)) }
    }

    private func withdraw() { contents.withLock { $0.isInMailbox = false } }
  }
#endif
