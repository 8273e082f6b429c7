import Glibc

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
