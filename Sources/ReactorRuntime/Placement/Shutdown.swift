import Dispatch
import ReactorCore

/// Something that can be closed, and that ends when what it had accepted is done: a loop, a group of loops, a reactor.
///
/// Closing has two steps, so that several parts can end at the same time: see ``Shutdown``.
public protocol Closeable: Sendable {
  /// Refuses what is sent from now on, without waiting for the end. Any thread; calling it again does nothing.
  func beginClosing()

  /// Waits for the end, but no longer than until that time, and returns what has not ended. Call it after
  /// ``beginClosing()``; it may be called again. Any thread; called from inside itself, it does not wait.
  func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished]
}

/// Ends a process, or a part of it.
public enum Shutdown {
  /// Closes the parts at the same time, and waits until they have ended. Any thread.
  ///
  /// ```swift
  /// try Shutdown.close([orders, workers], before: .now + .seconds(10))
  /// ```
  ///
  /// - Parameters:
  ///   - parts: What is closed, in this order, one right after the other; then all of them end at the same time. But those behind
  ///     ``KeyedReactors`` are closed when these have ended, since what keeps their states may still send to them: the loops of
  ///     their reactors, an archive, a journal. A collection has its share of the time for that, half of it if it is the only one, and
  ///     then goes on while those behind it end. Inside of a turn of one of its reactors, of `make` or of `onPassivate`, this waits for
  ///     none. List the collection itself, and not a ``Closeable`` of yours that has it.
  ///   - deadline: Until when it waits, for all parts together.
  /// - Throws: ``ShutdownError/unfinished(_:)``, with everything that has not ended.
  public static func close(
    _ parts: [any Closeable], before deadline: ContinuousClock.Instant
  ) throws(ShutdownError) {
    var (rest, left) = (parts[...], [any Closeable]())
    /// Until when the rest waits.
    var limit = deadline
    /// Closes the next parts, up to one that still sends to those behind it.
    func beginNext() {
      while let part = rest.popFirst() {
        part.beginClosing()
        left.append(part)
        guard part is any SendsWhileClosing, !rest.isEmpty else { continue }
        let now = ContinuousClock.now
        // At least now: the duration to an instant of the far past may not fit into a `Duration`.
        limit = now + (max(deadline, now) - now) / (2 + rest.count { $0 is any SendsWhileClosing })
        return
      }
    }
    beginNext()
    // By turns, since the end of a part may depend on another one, whose rounds only the calling thread runs: a reactor on a hosted
    // loop. Each turn is twice as long as the one before, so a part is asked a few times only.
    var turn = Duration.milliseconds(4)
    while !left.isEmpty {
      let now = ContinuousClock.now
      if now >= deadline { break }
      let isLast = left.count == 1
      let end = rest.isEmpty ? deadline : limit
      left.removeAll { $0.finishClosing(before: isLast ? end : min(end, .now + turn)).isEmpty }
      if !rest.isEmpty, .now >= limit || !left.contains(where: { $0 is any SendsWhileClosing }) {
        beginNext()
        turn = .milliseconds(4)
        continue
      }
      // None of them waits, such as those that close themselves.
      if .now - now < turn { break }
      turn *= 2
    }
    // From now on everything refuses, also if a part closes itself.
    while !rest.isEmpty { beginNext() }
    let unfinished = left.flatMap { $0.finishClosing(before: deadline) }
    if !unfinished.isEmpty { throw .unfinished(unfinished) }
  }

  /// Like ``close(_:before:)``, but suspends the task instead of blocking its thread. Any task. Cancelling it has no effect.
  ///
  /// ```swift
  /// try await Shutdown.closeSuspending([orders, workers], before: .now + .seconds(10))
  /// ```
  ///
  /// A thread made for it closes the parts, or one of Dispatch's if the system gives none. So a task of an actor on a loop may close that
  /// loop. It stays on the executor of its caller, so a task of such an actor closes them also while all threads of the pool are busy.
  ///
  /// - Parameters:
  ///   - parts: As for ``close(_:before:)``.
  ///   - deadline: Until when it waits, for all parts together.
  /// - Throws: ``ShutdownError/unfinished(_:)``, with everything that has not ended.
  nonisolated(nonsending)
    public static func closeSuspending(
      _ parts: [any Closeable], before deadline: ContinuousClock.Instant
    ) async throws(ShutdownError)
  {
    let outcome = await onOwnThread {
      Result { () throws(ShutdownError) in try close(parts, before: deadline) }
    }
    try outcome.get()
  }

  /// Runs `body` on a thread of its own, where it may block; or on one of Dispatch, since at a limit of threads, parts must end all the
  /// same. Any thread.
  static func detach(_ body: @escaping @Sendable () -> Void) {
    if !DedicatedThread.tryDetach(named: "reactor-closing", body) {
      DispatchQueue.global().async(execute: body)
    }
  }

  /// Runs `body` on a thread of its own, where it may block, and returns what it returns. Any task.
  nonisolated(nonsending)
    static func onOwnThread<Outcome: Sendable>(_ body: @escaping @Sendable () -> Outcome) async -> Outcome
  {
    let outcome = SystemMutex<Outcome?>(nil)
    await SuspendedTask.suspend { task in
      detach {
        let result = body()
        outcome.withLock { $0 = result }
        task.resume()
      }
      return true
    }
    guard let result = outcome.withLock({ $0 }) else {
      preconditionFailure("a task was resumed without a result")
    }
    return result
  }
}

/// A part that still sends while it closes, perhaps to those behind it in a list of ``Shutdown/close(_:before:)``.
@usableFromInline
protocol SendsWhileClosing: Closeable {}

/// Something that had not ended at the deadline.
public struct Unfinished: Sendable, Hashable {
  /// What it was doing at the deadline.
  public enum Occupation: Sendable, Hashable {
    /// In one turn, or one job, for that long. For a loop as a whole: in what it runs after its last turn, such as
    /// observers that are told the last state.
    case busy(Duration)
    /// That many actions wait; or jobs or reactors, if the name is that. 0 if what is named is in a turn, a `make` or an
    /// `onPassivate` that has not ended, if its loop is about to release it, or if it is a journal that still writes: only a loop
    /// knows since when.
    case waiting(actions: Int)
    /// The loop has no thread of its own, and nothing runs its rounds.
    case notRun
    /// It was closed from inside itself. It refuses what is sent, and ends after what it is doing.
    case closesItself
  }

  /// The type of the reactor; "jobs" or "reactors" for what waits for a loop as a whole; "loop" for the loop itself.
  public let name: String
  /// The name of the loop; nil for a reactor that was closed by itself.
  public let loop: String?
  public let occupation: Occupation

  /// For your own ``Closeable`` types.
  public init(name: String, loop: String?, occupation: Occupation) {
    self.name = name
    self.loop = loop
    self.occupation = occupation
  }
}

extension Unfinished: CustomStringConvertible {
  public var description: String {
    let place = loop.map { " on the loop \"\($0)\"" } ?? ""
    // Its jobs, or its reactors, which the name says.
    let isOfLoopAsAWhole = loop != nil && ["jobs", "reactors", "loop"].contains(name)
    return switch occupation {
    case .busy(let time): "\(name)\(place): \(isOfLoopAsAWhole ? "busy" : "in a turn") for \(time)"
    case .waiting(0): "\(name)\(place): has not ended"
    case .waiting(let count): "\(name)\(place): \(count)\(isOfLoopAsAWhole ? "" : " actions") waiting"
    case .notRun: "\(name)\(place): nobody runs its rounds"
    case .closesItself: "\(name)\(place): was told to end from inside itself"
    }
  }
}

/// Why a shutdown did not wait for the end, or did not see it.
public enum ShutdownError: Error, Hashable, Sendable {
  /// The shutdown was called from inside a turn, a job or a timer of that loop, and would have waited for itself. The
  /// loop refuses what is sent from now on, does what it had accepted, and then ends.
  case insideItself(loop: String)
  /// These parts had not ended in time. They refuse what is sent, and go on with what they had accepted.
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
