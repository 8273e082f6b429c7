import ReactorCore

/// What a reactor has done so far, and what it holds.
///
/// Read while it goes on: each number was true a moment ago, not all at the same moment.
public struct ReactorCounters: Sendable, Hashable, CustomStringConvertible {
  /// Actions and other work of others that wait: in the mailbox, and beside it while that is full. Without what
  /// the owner has taken over, as what the reactor sends to itself.
  public var waiting = 0
  /// Actions and other steps that were processed.
  public var processed = 0
  /// Actions that the ``OverflowPolicy`` has dropped.
  public var dropped = 0
  /// Stints of ownership.
  public var turns = 0
  /// The most that one of them has processed.
  public var largestTurn = 0
  /// Earlier states that are alive because somebody reads them.
  public var heldStates = 0
  /// How often a state was not shown at once because readers held every slot.
  public var deferredStates = 0

  /// What was sent and not refused: what was processed, waits, or was dropped. (Senders themselves count nothing:
  /// that would be a line of memory that all of them write.)
  public var sent: Int { processed + waiting + dropped }

  public var description: String {
    """
    sent \(sent), waiting \(waiting), processed \(processed), dropped \(dropped), turns \(turns), largest turn \(largestTurn), \
    held states \(heldStates), deferred states \(deferredStates)
    """
  }
}

extension Reactor {
  /// What the reactor has done so far. Any thread; stops nobody.
  public var counters: ReactorCounters { runtime.counters }
}

extension Runtime {
  /// What the reactor has done so far. Any thread; stops nobody.
  public var counters: ReactorCounters {
    let immediate = turnCounters.wasImmediate
    return ReactorCounters(
      waiting: mailbox.ring.wasCount + (mailbox.overflow.use { $0.wasCount } ?? 0),
      processed: immediate + turnCounters.wasProcessed,
      dropped: mailbox.overflow.use { $0.dropped.load(ordering: .relaxed) } ?? 0,
      turns: immediate + turnCounters.wasTurns,
      largestTurn: max(immediate == 0 ? 0 : 1, turnCounters.wasLargest),
      heldStates: state.wasHeldCount, deferredStates: state.wasDeferredCount)
  }
}

/// What the owner of a reactor counts.
