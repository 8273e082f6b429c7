// The variable `stdout` is not known to be constant.
@preconcurrency import Glibc

/// What a person sees besides the results.
enum Terminal {
  static func complain(_ text: String) {
    var text = "reactor-journal: \(text)\n"
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// A bar for work that takes long, if there is a person to see it: on a terminal, and not before half a second.
struct ProgressBar {
  private let isVisible = isatty(STDERR_FILENO) == 1
  private let clock = ContinuousClock()
  private var next: ContinuousClock.Instant
  private var wasShown = false

  init() { next = clock.now + .milliseconds(500) }

  /// - Parameter part: What is done, from 0 to 1.
  mutating func show(_ part: Double) {
    guard isVisible, clock.now >= next else { return }
    next = clock.now + .milliseconds(100)
    wasShown = true
    let width = 40
    let filled = Int(part * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    draw("\r[\(bar)] \(Int(part * 100)) %")
  }

  /// Removes the bar.
  mutating func end() {
    if wasShown { draw("\r\u{1B}[K") }
    wasShown = false
  }

  private func draw(_ text: String) {
    var text = text
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// Ends the process, after what was printed is written. If a part of that was lost, as on a full disk, a good status would be wrong.
func exitProcess(_ status: ExitStatus) -> Never {
  // `ferror` tells of what was written before, when the buffer was full.
  let isComplete = fflush(stdout) == 0 && ferror(stdout) == 0
  if !isComplete { Terminal.complain("The output cannot be written.") }
  exit((isComplete || status != .fine ? status : .outputLost).rawValue)
}
