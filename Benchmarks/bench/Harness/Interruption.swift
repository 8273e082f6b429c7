import Glibc
import Synchronization

/// The wish to end a run early, by Ctrl-C or SIGTERM. The first signal ends the run after the repetition that is being measured, and
/// what was measured is written as incomplete. One that comes later than half a second after it ends the process at once; not an
/// earlier one, since `timeout` sends its signal to the process and then to its group.
enum Interruption {
  /// The run ends because of a signal.
  struct Asked: Error, CustomStringConvertible {
    let signal: Int32

    var description: String { "interrupted by signal \(signal)" }
    /// As a shell reports a process that a signal has ended.
    var status: Int32 { 128 + signal }
  }

  /// The signal that arrived; 0 if none did.
  private static let arrived = Atomic<Int32>(0)
  /// When the first one arrived, in nanoseconds; 0 if none did. Set before the other, so that a second signal on another thread finds it.
  private static let time = Atomic<UInt64>(0)

  /// From now on, the signals are noted.
  static func watch() {
    // Also makes the variables, which a signal handler must not do.
    arrived.store(0, ordering: .relaxed)
    time.store(0, ordering: .relaxed)
    for number in [SIGINT, SIGTERM] { signal(number) { Interruption.note($0) } }
  }

  /// In a signal handler.
  private static func note(_ number: Int32) {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let nanoseconds = UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    let first = time.compareExchange(expected: 0, desired: nanoseconds, ordering: .relaxed)
    arrived.store(number, ordering: .relaxed)
    // It may be later than this one, which was then interrupted.
    if !first.exchanged, nanoseconds > first.original, nanoseconds - first.original > 500_000_000 {
      signal(number, SIG_DFL)
      // When the handler has returned.
      raise(number)
    }
  }

  static var isAsked: Bool { arrived.load(ordering: .relaxed) != 0 }

  /// Throws ``Asked`` if a signal has arrived.
  static func check() throws {
    let number = arrived.load(ordering: .relaxed)
    if number != 0 { throw Asked(signal: number) }
  }

  /// For the child of ``Twin``: a signal often reaches all processes of a terminal or a service, and the parent ends the child.
  static func leaveToParent() {
    for number in [SIGINT, SIGTERM] { signal(number, SIG_IGN) }
  }
}
