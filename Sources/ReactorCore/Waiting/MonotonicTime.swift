import CReactorCore
import Glibc

/// The monotonic clock, in nanoseconds since some moment before the process began. The timers of the system use it.
public enum MonotonicTime {
  /// The current time. Any thread; about 25 ns.
  @inlinable
  public static var now: Int64 { rr_clock_ns() }

  /// The time of the system's last tick, which is some milliseconds old at most. Any thread; about 5 ns.
  public static var coarse: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// The time `delay` after now; at least now, and at most about 146 years later.
  public static func after(_ delay: Duration) -> Int64 { presentAndTime(after: delay).due }

  /// The same, and the current time.
  public static func presentAndTime(after delay: Duration) -> (now: Int64, due: Int64) {
    let now = now
    return (
      now, delay <= .zero ? now : now.addingReportingOverflow(min(delay.nanoseconds, longest)).partialValue
    )
  }

  /// The time of this clock that corresponds to an instant of `ContinuousClock`.
  public static func at(_ instant: ContinuousClock.Instant) -> Int64 { presentAndTime(at: instant).due }

  /// The time of this clock that corresponds to an instant of `ContinuousClock`, and the current time.
  public static func presentAndTime(at instant: ContinuousClock.Instant) -> (now: Int64, due: Int64) {
    let present = ContinuousClock.now
    // Compared first: the duration to an instant of the far past may not fit into a `Duration`.
    return presentAndTime(after: instant <= present ? .zero : present.duration(to: instant))
  }

  private static var longest: Int64 { .max / 2 }
}

extension Duration {
  /// The duration in whole nanoseconds, clamped to the range of `Int64`.
  public var nanoseconds: Int64 {
    // Not by `components`, which stops the program if the seconds exceed 64 bits, and takes three times as long as this division.
    Int64(clamping: attoseconds / 1_000_000_000)
  }
}
