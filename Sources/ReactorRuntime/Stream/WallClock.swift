import Glibc

/// The local time of day, for people to read.
enum WallClock {
  /// As `2026-05-31 23:59:59.123`.
  static func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var parts = tm()
    localtime_r(&time.tv_sec, &parts)
    let date = [padded(parts.tm_year + 1900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2)]
    let clock = [padded(parts.tm_hour, 2), padded(parts.tm_min, 2), padded(parts.tm_sec, 2)]
    let milliseconds = padded(Int32(time.tv_nsec / 1_000_000), 3)
    return "\(date.joined(separator: "-")) \(clock.joined(separator: ":")).\(milliseconds)"
  }

  private static func padded(_ number: Int32, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
