import Glibc
import Synchronization

/// Lines on standard error: the time, the level, and a sentence.
enum Log {
  static func info(_ text: @autoclosure () -> String) { write("info", text()) }
  static func warning(_ text: @autoclosure () -> String) { write("warning", text()) }
  static func error(_ text: @autoclosure () -> String) { write("error", text()) }

  private static func write(_ level: String, _ text: String) {
    var (now, parts) = (time(nil), tm())
    gmtime_r(&now, &parts)
    var stamp = [CChar](repeating: 0, count: 32)
    let length = strftime(&stamp, stamp.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    let start = String(decoding: stamp[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // One call, so that lines of several threads do not mix.
    let line = Array("\(start) \(level) \(text)\n".utf8)
    _ = Glibc.write(STDERR_FILENO, line, line.count)
  }
}

/// Warnings that may come often: one of them in a second, which says how many there were.
final class OccasionalLog: Sendable {
  private struct State {
    var quietUntil = ContinuousClock.now
    var omitted = 0
  }
  private let state = Mutex(State())

  func warning(_ text: @autoclosure () -> String) {
    let omitted: Int? = state.withLock { state in
      if .now < state.quietUntil {
        state.omitted += 1
        return nil
      }
      defer { state = State(quietUntil: .now + .seconds(1)) }
      return state.omitted
    }
    guard let omitted else { return }
    Log.warning(omitted == 0 ? text() : "\(text()) (and \(omitted) times before)")
  }
}
