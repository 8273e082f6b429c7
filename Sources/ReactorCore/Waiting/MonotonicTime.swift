import CReactorCore

/// The clock that only goes forward, in nanoseconds since some moment before the process began: what the
/// timers of the system count by.
public enum MonotonicTime {
  /// Now. Any thread; about 25 ns.
  @inlinable
  public static var now: Int64 { rr_clock_ns() }

  /// So long after now; at least now, and at most some 200 years later.
  public static func after(_ delay: Duration) -> Int64 {
    let now = now
    return delay <= .zero ? now : now.addingReportingOverflow(min(delay.nanoseconds, longest)).partialValue
  }

  /// The moment that another clock names.
  public static func at(_ instant: ContinuousClock.Instant) -> Int64 {
    after(ContinuousClock.now.duration(to: instant))
  }

  private static var longest: Int64 { .max / 2 }
}

extension Duration {
  /// In whole nanoseconds; what does not fit is the nearest that does.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflows { return seconds < 0 ? .min : .max }
    let (sum, exceeds) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return exceeds ? (seconds < 0 ? .min : .max) : sum
  }
}
