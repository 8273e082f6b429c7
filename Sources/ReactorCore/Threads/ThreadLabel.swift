import CReactorCore

/// What the system's tools call a thread.
public struct ThreadLabel: Sendable, Hashable, CustomStringConvertible {
  /// At most 15 bytes; that of the process where the thread was given none.
  public let name: String
  /// What `ps -L` and the folders in `/proc/self/task` show; the next thread may get it once this one has
  /// ended.
  public let number: Int

  /// The calling thread's.
  public static var current: ThreadLabel {
    let name = rr_thread_get_name().bytes
    let text = withUnsafeBytes(of: name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return ThreadLabel(name: text, number: Int(rr_thread_number()))
  }

  public var description: String { "\(name) (\(number))" }
}
