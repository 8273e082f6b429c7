import ReactorCore

/// Who runs a reactor's turns.
public enum Placement: Sendable {
  /// The thread that sends to the idle reactor runs the action at once, and with it what others send
  /// meanwhile.
  case caller
  /// The thread of a ``Loop``.
  case loop(Loop)
}

/// What a loop does while it has nothing to do.
public struct WaitStrategy: Sendable, Hashable {
  @usableFromInline
  enum Kind: Sendable {
    case busy
    case spinning
    case parking
  }

  @usableFromInline let kind: Kind
  /// After how many looks in vain something else is done.
  @usableFromInline let limit: Int

  @inlinable
  init(_ kind: Kind, limit: Int) {
    self.kind = kind
    self.limit = limit
  }

  /// Looks again without a break, on a core of its own. The lowest latency.
  @inlinable
  public static var busy: WaitStrategy { WaitStrategy(.busy, limit: 1) }

  /// ``spinning(beforeYield:)``, 256 times.
  @inlinable
  public static var spinning: WaitStrategy { spinning(beforeYield: 256) }

  /// ``parking(afterSpins:)``, 256 times. For everybody else.
  @inlinable
  public static var parking: WaitStrategy { parking(afterSpins: 256) }

  /// Looks again with a pause of about 20 ns in between, and lets other threads run now and then; never
  /// sleeps.
  ///
  /// - Parameter looks: After how many looks it lets others run; positive.
  @inlinable
  public static func spinning(beforeYield looks: Int) -> WaitStrategy {
    check(looks, of: "spinning(beforeYield:)")
    return WaitStrategy(.spinning, limit: looks)
  }

  /// Looks again a few times, with pauses of about 20 ns, then sleeps until something is sent.
  ///
  /// - Parameter looks: After how many looks it sleeps; positive.
  @inlinable
  public static func parking(afterSpins looks: Int) -> WaitStrategy {
    check(looks, of: "parking(afterSpins:)")
    return WaitStrategy(.parking, limit: looks)
  }

  @usableFromInline
  static func check(_ looks: Int, of name: String) {
    precondition(
      looks > 0,
      """
      Problem: the limit of WaitStrategy.\(name) is \(looks).
      Likely cause: it was computed, or 0 was meant as "at once" or as "never".
      Remedy: a positive number; 1 is at once, and .busy never yields or sleeps.
      """)
  }

  /// After how many looks in vain a reactor is quiet, and given up until something is sent to it again.
  /// Where a look is cheap and nobody else wants the core, being patient spares the handing over.
  @inlinable var patience: Int {
    switch kind {
    case .busy: 65_536
    case .spinning: 4096
    case .parking: limit
    }
  }
}

extension WaitStrategy: CustomStringConvertible {
  public var description: String {
    switch kind {
    case .busy: "busy"
    case .spinning: "spinning(beforeYield: \(limit))"
    case .parking: "parking(afterSpins: \(limit))"
    }
  }
}
