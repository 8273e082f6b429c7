import Glibc
import Synchronization

/// Lines on standard error: the time, the level, and a sentence. A line for which there is no room is dropped: otherwise the loops,
/// and with them all clients, would wait for whatever reads the log. An error ends the server, and so waits a second for room.
enum Log {
  static func info(_ text: @autoclosure () -> String) { write("info", text()) }
  static func warning(_ text: @autoclosure () -> String) { write("warning", text()) }
  static func error(_ text: @autoclosure () -> String) { write("error", text(), waiting: 1000) }

  /// How many lines were dropped since one was written. One thread at a time looks for room and uses it.
  private static let dropped = Mutex(0)

  /// - Parameter patience: For how many milliseconds it may wait for room.
  private static func write(_ level: String, _ text: String, waiting patience: Int32 = 0) {
    dropped.withLock { dropped in
      var lines: [UInt8] = []
      if dropped > 0 {
        append("warning", "lines dropped here, since nobody read the log: \(dropped)", to: &lines)
      }
      append(level, text, to: &lines)
      dropped = isWritten(lines, waiting: patience) ? 0 : dropped + 1
    }
  }

  private static func append(_ level: String, _ text: String, to lines: inout [UInt8]) {
    var (now, parts) = (time(nil), tm())
    gmtime_r(&now, &parts)
    var stamp = [CChar](repeating: 0, count: 32)
    let length = strftime(&stamp, stamp.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    let start = String(decoding: stamp[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // A pipe that has room has room for as many bytes.
    lines += Array("\(start) \(level) \(text)".utf8).prefix(Int(PIPE_BUF) / 2 - 1) + [10]
  }

  /// Writes lines with one call, so that they do not mix with those of other processes. Returns false if there is no room for them.
  private static func isWritten(_ lines: [UInt8], waiting patience: Int32) -> Bool {
    var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    var count: Int32
    // A signal says nothing about the room, and the write would wait for it.
    repeat { count = poll(&descriptor, 1, patience) } while count < 0 && errno == EINTR
    // An error of the descriptor is no lack of room: then nobody will read the log.
    if count == 0 { return false }
    return Glibc.write(STDERR_FILENO, lines, lines.count) >= 0 || errno != EAGAIN
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
