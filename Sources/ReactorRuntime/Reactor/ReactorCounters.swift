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
    let immediate = turnCounters.was(.immediate)
    return ReactorCounters(
      waiting: mailbox.ring.wasCount + (mailbox.overflow.use { $0.wasCount } ?? 0),
      processed: immediate + turnCounters.was(.processed),
      dropped: mailbox.overflow.use { $0.dropped.load(ordering: .relaxed) } ?? 0,
      turns: immediate + turnCounters.was(.turns),
      largestTurn: max(immediate == 0 ? 0 : 1, turnCounters.was(.largest)),
      heldStates: state.wasHeldCount, deferredStates: state.wasDeferredCount)
  }
}

/// What the owner of a reactor counts.
@usableFromInline
struct TurnCounters: ~Copyable, Sendable {
  @usableFromInline
  enum Counter: Int {
    /// Turns of one action, on the thread that sent it.
    case immediate
    /// Turns that emptied the mailbox.
    case turns
    /// What was processed in those: actions and other steps.
    case processed
    /// The most that one of them processed.
    case largest
  }

  @usableFromInline let counters = OwnerCounters(4)

  @usableFromInline init() {}

  @inlinable
  @inline(__always)
  func count(_ counter: Counter) { counters.add(1, to: counter.rawValue) }

  @inlinable
  func count(turnOf processed: Int) {
    counters.add(1, to: Counter.turns.rawValue)
    counters.add(processed, to: Counter.processed.rawValue)
    counters.raise(Counter.largest.rawValue, to: processed)
  }

  func was(_ counter: Counter) -> Int { counters.was(counter.rawValue) }
}
