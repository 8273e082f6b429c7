import Glibc

/// The standard error of the process.
public enum StandardError {
  /// Writes a text in one call, so that two threads' texts do not mix.
  public static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
