import ReactorCore

/// Something that works, but probably not as it was meant: found by the checks of debug builds.
///
/// It goes to ``Hooks/warningHandler``. Release builds contain none of the checks, and never warn.
public struct Warning: Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Kind: String, Sendable, CaseIterable {
    /// An action has reached `mutate` elsewhere than where the reactor expects it: see
    /// ``Reactor/expectedThread``.
    case unexpectedThread
    /// `reduce` was called by the runtime while it was running for the same reactor.
    case reduceEnteredTwice
    /// An observer of ``Reactor/state`` was called elsewhere than where the reactor expects it, or not on its
    /// loop.
    case foreignObserver
    /// A stream that `mutate` or a `transform` answered has emitted elsewhere than where a reactor on the
    /// caller's placement expects it.
    case foreignSource
    /// A send would have to wait for room inside of a turn. It does not: what it sends is kept beside the mailbox.
    case blockingSend
    /// A turn took longer than ``Hooks/longTurnThreshold``.
    case longTurn
  }

  public let kind: Kind
  /// The type of the reactor.
  public let reactor: String
  /// The name of the thread on which it was noticed, cut to 15 bytes; nil if it was more than once.
  public let threadName: String?
  /// The number of that thread, as the system's tools show it; nil if it was more than once.
  public let threadNumber: Int?
  /// How often it was noticed: once; or, after that, so often within a second without being reported.
  public let count: Int
  /// What happened.
  public let problem: String
  /// Why it probably happened.
  public var likelyCause: String { kind.likelyCause }
  /// What can be done.
  public var remedy: String { kind.remedy }

  init(_ kind: Kind, _ reactor: String, on thread: ThreadLabel?, count: Int = 1, _ problem: String) {
    self.kind = kind
    self.reactor = reactor
    self.count = count
    self.problem = problem
    threadName = thread?.name
    threadNumber = thread?.number
  }

  public var description: String {
    """
    Problem: \(problem)
    Likely cause: \(likelyCause)
    Remedy: \(remedy)
    """
  }

  /// Writes the warning to standard error: what is done unless ``Hooks/warningHandler`` is replaced.
  public static let printToStandardError: @Sendable (Warning) -> Void = { warning in
    StandardError.write("\(warning)\n")
  }
}

extension Warning.Kind {
  fileprivate var likelyCause: String {
    switch self {
    case .unexpectedThread:
      """
      it was sent there, or by a stream merged in transform(action:); or the thread there was running the \
      reactor's turns while another sent it.
      """
    case .reduceEnteredTwice: "the reactor's Runtime is used by something else than the reactor."
    case .foreignObserver:
      "the action came from there (placement .caller), or the reactor's loop has been shut down."
    case .foreignSource:
      "a stream has left the expected thread, say by a task, a timer or a queue of its own."
    case .blockingSend: "more is sent inside of turns than the other reactor processes."
    case .longTurn: "mutate, reduce or an observer waits, or computes for long."
    }
  }

  fileprivate var remedy: String {
    switch self {
    case .unexpectedThread:
      """
      dispatch from the expected thread (or hop merged streams in transform(action:) onto it by observe(on:)); \
      or place the Runtime there, so that it may be sent to from all threads.
      """
    case .reduceEnteredTwice: "give each reactor a Runtime of its own, and leave its calls to the reactor."
    case .foreignObserver:
      "put observe(on:) before the subscription, or place the Runtime there and end the loop last."
    case .foreignSource: "put observe(on:) at the end of the stream, or place the Runtime there."
    case .blockingSend:
      "use trySend(_:) there and handle its error, or give the other reactor's Runtime a larger capacity."
    case .longTurn: "make a stream of it: Observable.task, or a source on another thread."
    }
  }
}

#if DEBUG
  import Glibc
  import ReactorCore

  extension Warning {
    private struct Site: Hashable {
      let kind: Kind
      let reactor: String
    }

    /// One at once, then the count of the others, once a second.
    private static let limit: RateLimit<Site> = {
      atexit { limit.tellAll() }
      return RateLimit(1) { site, count in
        let problem = "as before, \(count) more times within a second: \(site.kind), \(site.reactor)."
        Hooks.warningHandler(Warning(site.kind, site.reactor, on: nil, count: count, problem))
      }
    }()

    /// Warns, unless the same was said just now. Any thread.
    static func report(
      _ kind: Kind, _ reactor: any AnyObject.Type, _ problem: (_ reactor: String, ThreadLabel) -> String
    ) {
      let name = String(reflecting: reactor)
      guard limit.admits(Site(kind: kind, reactor: name)) else { return }
      let thread = ThreadLabel.current
      Hooks.warningHandler(Warning(kind, name, on: thread, problem(name, thread)))
    }
  }
#endif
