import Glibc
import Synchronization

/// The wish to end a run early, by Ctrl-C or SIGTERM. The first signal ends the run after the repetition that is being measured, and
/// what was measured is written as incomplete. The second one ends the process at once.
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

  /// From now on, the signals are noted.
  static func watch() {
    // Also makes the variable, which a signal handler must not do.
    arrived.store(0, ordering: .relaxed)
    for number in [SIGINT, SIGTERM] {
      signal(number) { number in
        Interruption.arrived.store(number, ordering: .relaxed)
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
      }
    }
  }

  static var isAsked: Bool { arrived.load(ordering: .relaxed) != 0 }

  /// Throws ``Asked`` if a signal has arrived.
  static func check() throws {
    let number = arrived.load(ordering: .relaxed)
    if number != 0 { throw Asked(signal: number) }
  }

  /// For the child of ``Twin``: Ctrl-C reaches all processes of a terminal, and the parent ends the child.
  static func leaveToParent() { signal(SIGINT, SIG_IGN) }
}
