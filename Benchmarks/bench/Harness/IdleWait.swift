import CBenchmarkLimits
import Glibc

/// Waiting for another thread without a lock: a few looks in a row, some with a pause, then yields.
struct IdleWait {
  private static let looks = 64
  private static let pauses = 256
  private var rounds = 0

  @inline(__always)
  mutating func reset() {
    rounds = 0
  }

  /// Returns true when it has yielded, which is the time for dear checks.
  @inline(__always)
  mutating func wait() -> Bool {
    rounds &+= 1
    if rounds <= Self.looks { return false }
    if rounds <= Self.looks + Self.pauses {
      bl_pause()
      return false
    }
    sched_yield()
    return true
  }
}
