/// What a loop does while it has nothing to do.
public enum WaitStrategy: Sendable, Hashable {
  /// Looks again without a break, on a core of its own. The lowest latency.
  case busy
  /// Looks again with a short pause in between, and lets other threads run now and then; never sleeps.
  case spinning
  /// Spins for a few microseconds, then sleeps until something is sent. For everybody else.
  case parking

  /// After how many looks in vain a reactor is quiet, and given up until something is sent to it again.
  /// Where a look is cheap and nobody else wants the core, being patient spares the handing over.
  @usableFromInline var patience: Int {
    switch self {
    case .busy: 65_536
    case .spinning: 4096
    case .parking: 256
    }
  }
}
