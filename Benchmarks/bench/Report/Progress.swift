import Glibc

/// One line on the terminal that says what is being measured; nothing where nobody watches.
final class Progress {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var group = ""

  func enter(_ group: String) {
    self.group = group
  }

  func show(_ variant: String, _ step: String) {
    write("\r\u{1B}[K\(group) · \(variant) · \(step)")
  }

  func clear() {
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    guard isShown else { return }
    StandardError.write(text)
  }
}

/// Unbuffered, and apart from the report.
enum StandardError {
  static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
