import ReactorCore

/// A probable mistake in the use of the library, found by the checks of debug builds.
///
/// Warnings are passed to ``Hooks/warningHandler``. Release builds contain no checks, and never warn.
public struct Warning: Sendable, CustomStringConvertible {
  /// The kind of mistake.
  public enum Kind: String, Sendable, CaseIterable {
    /// `mutate` was called on a thread other than the one that the reactor expects: see
    /// ``Reactor/expectedThread``.
    case unexpectedThread
    /// The runtime called `reduce` while another call of it was running for the same reactor.
    case reduceEnteredTwice
    /// An observer of ``Reactor/state`` was called on a thread other than the one that the reactor expects, or
    /// other than its loop's.
    case foreignObserver
    /// A stream that `mutate` or a `transform` of a reactor on ``Placement/caller`` returned emitted on a thread
    /// other than the one that the reactor expects.
    case foreignSource
    /// A send from inside of a turn found the mailbox full. It does not wait; its action is kept beside the
    /// mailbox.
    case keptSend
    /// A turn took longer than ``Hooks/longTurnThreshold``.
    case longTurn
    /// Copies of a large state, which ``Reactor/currentState`` had returned, were often alive when the state was
    /// changed in place, so that the change had to copy what they share.
    case copiedState
    /// `reduce` made different states of equal ones with the same mutations, and the state is
    /// ``SnapshotPolicy/replayed``. The states are compared now and then, if they are `Equatable`.
    case impureReduce
    /// A ``ReactorKitReactor`` without `mutate` was sent an action, or one without `reduce` had a mutation to reduce.
    case missingMethod
    /// Something was left to the main queue, by ``MainScheduler`` or the main loop, and the queue has run nothing in the ten seconds
    /// after the first use. A queue that has run once is not checked again.
    case stalledMainQueue
    /// A subscriber or a middleware of the product `ReactorSwiftCompatibility` was given a value of another type than its
    /// `StateType`, so it was not called.
    case wrongStateType
  }

  public let kind: Kind
  /// The type of the reactor; with ``Kind-swift.enum/stalledMainQueue`` and ``Kind-swift.enum/wrongStateType``, the type of what was
  /// left waiting or not called.
  public let reactor: String
  /// The name of the thread, shortened to 15 bytes; nil if the warning is about several occurrences.
  public let threadName: String?
  /// The number of the thread, as the system's tools show it; nil if the warning is about several occurrences.
  public let threadNumber: Int?
  /// The number of occurrences that the warning is about: 1, or the number within a second that were not
  /// reported one by one.
  public let count: Int
  /// What happened.
  public let problem: String
  /// Why it probably happened.
  public var likelyCause: String { kind.likelyCause }
  /// What to do about it.
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

  /// Writes the warning to standard error. The default of ``Hooks/warningHandler``.
  public static let printToStandardError: @Sendable (Warning) -> Void = { warning in
    StandardError.write("\(warning)\n")
  }
}

extension Warning.Kind {
  fileprivate var likelyCause: String {
    switch self {
    case .unexpectedThread:
      """
      the action was sent on that thread, or by a stream that transform(action:) merges in; or that thread was \
      running the reactor's turn when another thread sent the action.
      """
    case .reduceEnteredTwice: "other code than the reactor uses the reactor's Runtime."
    case .foreignObserver:
      "the action was sent on that thread (placement .caller), or the reactor's loop was shut down."
    case .foreignSource:
      "the stream emits from a task, a timer or a queue of its own."
    case .keptSend: "turns send more actions than the receiving reactor processes."
    case .longTurn: "mutate, reduce or an observer blocks, or computes for a long time."
    case .copiedState:
      "other threads call currentState to read a part of the state, or keep the states that they get."
    case .impureReduce:
      "reduce uses more than its arguments: a clock, a random number, another reactor's state, an object that it changes."
    case .stalledMainQueue:
      "the main thread waits for something else, such as a semaphore or a server of another library; or it computes for long."
    case .missingMethod: "the method is missing, or misspelt, or it is async."
    case .wrongStateType:
      "the selector, or the core without one, does not give what update(with:) or process(event:state:) takes."
    }
  }

  fileprivate var remedy: String {
    switch self {
    case .unexpectedThread:
      """
      send on the expected thread, and put observe(on:) behind streams that transform(action:) merges in; or \
      choose a placement of the Runtime that runs turns on the expected thread, so that all threads may send.
      """
    case .reduceEnteredTwice: "give each reactor its own Runtime, and call it only through the reactor."
    case .foreignObserver:
      "put observe(on:) before the subscription, or place the Runtime on the expected thread and end its loop last."
    case .foreignSource:
      "put observe(on:) at the end of the stream, or place the Runtime on the expected thread."
    case .keptSend:
      "use trySend(_:) and handle its error, or give the receiving reactor's Runtime a larger capacity."
    case .longTurn: "move the work into a stream: Observable.task, or a source on another thread."
    case .copiedState: "read the part with withCurrentState, which makes no copy."
    case .impureReduce:
      "let mutate find out what reduce needs, and pass it on in the mutation; or choose snapshots: .onDemand."
    case .stalledMainQueue:
      """
      run the main queue: MainLoop.run(), dispatchMain() or an asynchronous main; or use another scheduler, and another placement \
      than that of the main loop.
      """
    case .missingMethod: "conform to Reactor instead, for which the compiler finds such mistakes."
    case .wrongStateType:
      "let the selector return the subscriber's StateType; it may return nil for no update."
    }
  }
}
