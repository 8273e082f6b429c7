import Glibc

/// What a producer does that finds a ring full: gives its core away at once. Whoever could make room may be
/// waiting for that core, and a full ring is long enough not to run empty meanwhile.
enum FullWait {
  @inline(__always)
  static func yield() { sched_yield() }
}
