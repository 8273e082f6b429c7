import ReactorCore

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
