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

/// Something that had not ended when its time was up.
public struct Unfinished: Sendable, Hashable {
  /// What it was doing.
  public enum Occupation: Sendable, Hashable {
    /// In one turn, or one job, for so long.
    case busy(Duration)
    /// So many actions wait in its mailbox; 0 if it is about to leave its loop.
    case waiting(actions: Int)
    /// Nobody runs the rounds of its loop.
    case notRun
    /// It was to be closed from inside itself; it refuses what is sent, and ends after what it is doing.
    case closesItself
  }

  /// The type of the reactor; "jobs" or "reactors" if it is several of a loop's, or "loop".
  public let name: String
  /// The name of its loop; nil if it has none.
  public let loop: String?
  public let occupation: Occupation

  public init(name: String, loop: String?, occupation: Occupation) {
    self.name = name
    self.loop = loop
    self.occupation = occupation
  }
}

extension Unfinished: CustomStringConvertible {
  public var description: String {
    let place = loop.map { " on the loop \"\($0)\"" } ?? ""
    return switch occupation {
    case .busy(let time): "\(name)\(place): in a turn for \(time)"
    case .waiting(let count): "\(name)\(place): \(count) actions waiting"
    case .notRun: "\(name)\(place): nobody runs its rounds"
    case .closesItself: "\(name)\(place): was told to end from inside itself"
    }
  }
}

/// Why something is not closed.
public enum ShutdownError: Error, Hashable, Sendable {
  /// It was to wait for its own end: it was called from inside a turn, a job or a timer of that loop. The loop
  /// refuses what is sent from now on, does what it had accepted, and then ends.
  case insideItself(loop: String)
  /// Those had not ended in time. They refuse what is sent, and go on with what they had accepted.
  case unfinished([Unfinished])
}

extension ShutdownError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .insideItself(let loop):
      "the loop \"\(loop)\" was told to wait for its own end, from inside itself; it ends by itself"
    case .unfinished(let list):
      "not ended in time: " + list.map { "\($0)" }.joined(separator: "; ")
    }
  }
}
