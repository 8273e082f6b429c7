/// What a loop does while it has nothing to do.
public struct WaitStrategy: Sendable, Hashable {
  @usableFromInline
  enum Kind: Sendable {
    case busy
    case spinning
    case parking
  }

  @usableFromInline let kind: Kind
  /// After how many checks that found nothing the strategy yields; or after how many nanoseconds it sleeps.
  @usableFromInline let limit: Int

  @inlinable
  init(_ kind: Kind, limit: Int) {
    self.kind = kind
    self.limit = limit
  }

  /// Checks again without a pause; needs a core of its own. The lowest latency.
  @inlinable
  public static var busy: WaitStrategy { WaitStrategy(.busy, limit: 1) }

  /// ``spinning(beforeYield:)`` with 256 checks.
  @inlinable
  public static var spinning: WaitStrategy { spinning(beforeYield: 256) }

  /// ``parking(after:)`` with 5 µs. The right choice unless the loop has a core of its own.
  @inlinable
  public static var parking: WaitStrategy { WaitStrategy(.parking, limit: 5000) }

  /// Checks again with a pause of about 20 ns in between, and from time to time yields to other threads. Never sleeps.
  ///
  /// - Parameter checks: After how many checks it yields; positive.
  @inlinable
  public static func spinning(beforeYield checks: Int) -> WaitStrategy {
    check(checks, of: "spinning(beforeYield:)")
    return WaitStrategy(.spinning, limit: checks)
  }

  /// Checks again for some time, with pauses of about 20 ns, then sleeps until something is sent. How many reactors the loop
  /// has makes no difference to how long that is.
  ///
  /// - Parameter patience: After how long without work it sleeps; zero is at once. Not negative.
  public static func parking(after patience: Duration) -> WaitStrategy {
    guard patience >= .zero else {
      fatalError(
        """
        Problem: the patience of WaitStrategy.parking(after:) is \(patience).
        Likely cause: it was computed.
        Remedy: .zero, which is at once, or more.
        """)
    }
    return WaitStrategy(.parking, limit: Int(patience.nanoseconds))
  }

  @usableFromInline
  static func check(_ limit: Int, of name: String) {
    guard limit > 0 else {
      fatalError(
        """
        Problem: the limit of WaitStrategy.\(name) is \(limit).
        Likely cause: it was computed, or 0 was meant as "at once" or as "never".
        Remedy: a positive number; 1 is at once, and .busy never yields or sleeps.
        """)
    }
  }

  /// After how many turns without work the loop releases a reactor, until something is sent to it again. Where such a
  /// turn is cheap and no other thread needs the core, a larger limit saves scheduling it again. A loop that is about to
  /// sleep releases all of them.
  @inlinable var quietLimit: Int {
    switch kind {
    case .busy: 65_536
    case .spinning: 4096
    case .parking: limit == 0 ? 1 : 256
    }
  }
}

extension WaitStrategy: CustomStringConvertible {
  public var description: String {
    switch kind {
    case .busy: "busy"
    case .spinning: "spinning(beforeYield: \(limit))"
    case .parking: "parking(after: \(Duration.nanoseconds(limit)))"
    }
  }
}
