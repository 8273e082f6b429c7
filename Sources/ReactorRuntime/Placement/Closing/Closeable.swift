/// Something that can be told to end, and that ends when what it had accepted is done: a loop, a group of
/// loops.
///
/// In two steps, so that several can end at the same time: see ``Shutdown``.
public protocol Closeable: Sendable {
  /// Refuses what is sent from now on. Does not wait. Any thread; calling it again does nothing.
  func beginClosing()

  /// Waits for the end, but not longer than until that time, and answers what has not ended. Any thread,
  /// also from inside itself, where it does not wait. Called after ``beginClosing()``; may be called again.
  func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished]
}

/// The end of a process, or of a part of it.
public enum Shutdown {
  /// Closes them all at the same time, and waits until they have ended.
  ///
  /// ```swift
  /// try Shutdown.close([orders, workers], before: .now + .seconds(10))
  /// ```
  ///
  /// - Parameters:
  ///   - parts: Each ends for itself; the order does not matter.
  ///   - deadline: When it gives up.
  /// - Throws: ``ShutdownError/unfinished(_:)``, with all that had not ended.
  public static func close(
    _ parts: [any Closeable], before deadline: ContinuousClock.Instant
  ) throws(ShutdownError) {
    for part in parts { part.beginClosing() }
    var unfinished: [Unfinished] = []
    for part in parts { unfinished += part.finishClosing(before: deadline) }
    if !unfinished.isEmpty { throw .unfinished(unfinished) }
  }
}
