import Dispatch
import Glibc
import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport

/// A reactor on the main loop that checks where its turns run.
public final class Arrivals: Reactor {
  public struct Arrival: Sendable, Equatable {
    public var thread: Int
    public var index: Int

    public init(thread: Int, index: Int) {
      self.thread = thread
      self.index = index
    }
  }

  public typealias Action = Arrival
  public typealias State = [Arrival]

  public let initialState: [Arrival] = []
  public let runtime: Runtime<Arrival, Arrival, [Arrival]>
  private let findings: Findings
  private let isInside = Atomic(false)

  /// - Parameter failures: Gets why something was refused.
  public init(capacity: Int, failures: Record<SendError> = Record(), _ findings: Findings) {
    runtime = Runtime(on: .main, capacity: capacity) { failure in
      if case .actionNotDelivered(let error) = failure.cause { failures.append(error) }
    }
    self.findings = findings
  }

  public func mutate(action: Arrival) -> Observable<Arrival> {
    dispatchPrecondition(condition: .onQueue(.main))
    MainActor.assumeIsolated {}
    findings.expect(MainLoop.isCurrent, "a turn is inside of the main loop")
    findings.expect(!isInside.exchange(true, ordering: .relaxed), "one turn at a time")
    if findings.isOnTheMainThread { findings.expect(DedicatedThread.isFirst, "a turn is on the main thread") }
    isInside.store(false, ordering: .relaxed)
    return .just(action)
  }

  public func reduce(into state: inout [Arrival], mutation: Arrival) { state.append(mutation) }
}

/// The failures that were found. Made first of all, on the main thread.
public final class Findings: Sendable {
  public let isOnTheMainThread: Bool
  private let failed = Atomic(false)

  /// - Parameter isOnTheMainThread: Whether the main loop is to run there, and not on a pool of threads.
  public init(isOnTheMainThread: Bool) {
    self.isOnTheMainThread = isOnTheMainThread
    // The parent process may have blocked or ignored signals, and both are inherited.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_UNBLOCK, &all, nil)
    for number in [SIGTERM, SIGINT, SIGALRM] { signal(number, SIG_DFL) }
    // Ends the program if it hangs.
    alarm(120)
  }

  public func expect(_ condition: Bool, _ what: String) {
    if condition { return }
    failed.store(true, ordering: .sequentiallyConsistent)
    StandardError.write("not so: \(what)\n")
  }

  /// The exit status of the process.
  public var status: Int32 { failed.load(ordering: .sequentiallyConsistent) ? 1 : 0 }
}
