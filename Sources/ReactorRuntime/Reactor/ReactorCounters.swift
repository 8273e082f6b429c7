import ReactorCore

/// The counters of a reactor.
///
/// They are read one after the other while the reactor runs. Each number was true a moment ago, but not all of them
/// at the same moment.
public struct ReactorCounters: Sendable, Hashable, CustomStringConvertible {
  /// The items that wait in the mailbox and beside it: actions, mutations of streams and subscriptions, whichever thread sent
  /// them. With ``OverflowPolicy/dropOldest`` also those that were pushed out, until the reactor has reported them.
  public var waiting = 0
  /// The actions and other items that were processed, and those that a turn of a closed reactor has discarded instead
  /// (``Closing/discard``). What is discarded because the reactor's loop was shut down is not counted any more. A turn is counted when
  /// it ends.
  public var processed = 0
  /// The actions that the ``OverflowPolicy`` dropped.
  public var dropped = 0
  /// The turns that processed something. A thread that owns the reactor may run several, one after the other.
  public var turns = 0
  /// The largest number of items that one turn processed.
  public var largestTurn = 0
  /// The earlier states that are alive because a reader holds them.
  public var heldStates = 0
  /// The number of times that a state was not published at once, because readers held every slot.
  public var deferredStates = 0
  /// With ``SnapshotPolicy/onDemand``: the copies of the state that ``Reactor/currentState`` has returned on other threads than
  /// the owner's. A change while such a copy is alive copies the collections that both share. With ``SnapshotPolicy/replayed``:
  /// how often the owner has copied the state, at its first change and when no earlier state could be brought up to date.
  public var copiedStates = 0

  /// The items that were sent and not refused: those that were processed, wait, or were dropped. It is computed from
  /// these, because a counter of the senders' own would be a cache line that all of them write.
  ///
  /// What a running turn has taken out of the mailbox does not wait any more, and is not counted as processed before the turn ends. So
  /// this may be too small by as many items as one turn takes, 1,024 or the loop's `turnLimit`, and may fall and rise again. When the
  /// reactor is idle, it is exact.
  public var sent: Int { processed + waiting + dropped }

  public var description: String {
    """
    sent \(sent), waiting \(waiting), processed \(processed), dropped \(dropped), turns \(turns), largest turn \(largestTurn), \
    held states \(heldStates), deferred states \(deferredStates), copied states \(copiedStates)
    """
  }
}

extension Reactor {
  /// The counters of the reactor. Any thread; it does not wait for a turn. Once the mailbox was full, it takes the lock under which
  /// senders keep actions beside it, for a moment: so a sender that finds it full, or the owner, may wait for that.
  public var counters: ReactorCounters { runtime.counters }
}

extension Runtime {
  /// The counters of the reactor. Any thread; it does not wait for a turn. Once the mailbox was full, it takes the lock under which
  /// senders keep actions beside it, for a moment: so a sender that finds it full, or the owner, may wait for that.
  public var counters: ReactorCounters {
    let immediate = turnCounters.wasImmediate
    return ReactorCounters(
      waiting: mailbox.wasCount,
      processed: immediate + turnCounters.wasProcessed,
      dropped: mailbox.overflow.use { $0.dropped.load(ordering: .relaxed) } ?? 0,
      turns: immediate + turnCounters.wasTurns,
      largestTurn: max(immediate == 0 ? 0 : 1, turnCounters.wasLargest),
      heldStates: state.wasHeldCount, deferredStates: state.wasDeferredCount,
      copiedStates: state.wasCopiedCount)
  }
}
