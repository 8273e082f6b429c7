import ReactorCore
import Synchronization

/// Descriptors that a loop watches, beside its reactors, jobs and timers.
extension Loop {
  /// What a watched descriptor is ready for. If its other side has hung up or failed, it is ready for both: the next
  /// read or write then returns the reason.
  public struct Readiness: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let readable = Readiness(rawValue: 1)
    public static let writable = Readiness(rawValue: 2)
  }

  /// Calls `body` on the loop as long as the descriptor is ready: once per round, again and again, until the returned
  /// ``Watch`` is disposed of, or the loop is shut down.
  ///
  /// ```swift
  /// let watch = try loop.watch(socket, for: .readable) { watch, _ in
  ///   if !connection.read() { watch.dispose() }
  /// }
  /// ```
  ///
  /// - **Level-triggered.** A body that reads a part of what is there is called again.
  /// - **Like a job.** `body` runs on the thread of the loop, between turns. A send in it does not wait for room. It must
  ///   not block, so the descriptor should be non-blocking.
  /// - **Fair.** At most 32 bodies are called per round, and a round has a turn of each reactor and a turn of the jobs. A
  ///   loop that is busy with turns polls its descriptors at least every eighth round.
  /// - **The end.** Shutting the loop down ends all watches first, and then runs what was accepted. The loop does not close
  ///   the descriptors.
  ///
  /// The watch keeps `body` until it ends. So a body that captures the loop, or a reactor on it, keeps the loop alive: capture it weakly,
  /// or end the watch, or shut the loop down.
  ///
  /// A loop that watches descriptors sleeps in `epoll_wait`, and a thread that sends to it while it sleeps writes to an
  /// eventfd. A loop that never watched anything does neither. On the loop of a ``HostedLoop`` or a main loop this works
  /// likewise.
  ///
  /// Any thread. The descriptor must stay open until the watch is disposed of: dispose first, then close, both on the loop.
  /// ``Watch/dispose()`` documents why.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor. Each can be watched once per loop.
  ///   - readiness: What `body` is called for. If empty, nothing, until ``Watch/change(to:)``.
  ///   - body: Called with the watch, and with what the descriptor is ready for, of what it is watched for.
  /// - Throws: ``WatchError``.
  /// - Complexity: O(1), and a call of the system.
  @discardableResult
  public func watch(
    _ descriptor: Int32, for readiness: Readiness,
    _ body: @escaping @Sendable (Watch, Readiness) -> Void
  ) throws(WatchError) -> Watch {
    try state.ensureWatches().add(descriptor, readiness, body)
  }
}

/// A descriptor that a loop watches: see ``Loop/watch(_:for:_:)``.
public final class Watch: Disposable {
  /// The watched descriptor. It may have been closed since the watch was disposed of.
  public let descriptor: Int32
  /// What the poller returns for it. A descriptor may be closed, and its number used again, while an event is on its way.
  let tag: UInt64
  private let watches: LoopWatches
  /// What `body` may be called for: nothing once the watch is disposed of. Relaxed: another thread that changes it may find
  /// the body running; what the body reads is the caller's to order.
  let interest: Atomic<UInt8>

  init(_ descriptor: Int32, tag: UInt64, _ readiness: Loop.Readiness, in watches: LoopWatches) {
    self.descriptor = descriptor
    self.tag = tag
    self.watches = watches
    interest = Atomic(readiness.rawValue)
  }

  /// Changes what the body is called for. With an empty set it is called for nothing, not even for an end of the other
  /// side, until the next change: so a peer that does not read can be left alone. Does nothing once the watch has ended. Any
  /// thread.
  ///
  /// - Throws: ``WatchError/descriptorRefused(_:)``, if the descriptor was closed.
  public func change(to readiness: Loop.Readiness) throws(WatchError) {
    try watches.change(self, to: readiness)
  }

  /// Ends the watch, and releases its body. Any thread, also from inside of the body.
  ///
  /// If the loop calls it, the body is not called afterwards, and the descriptor may be closed. Another thread that calls it
  /// may find that the body is running, or about to be called. So that thread must not close the descriptor then: its number
  /// may be used again, and the body would read what belongs to others. Close it on the loop:
  ///
  /// ```swift
  /// try loop.execute {
  ///   watch.dispose()
  ///   close(watch.descriptor)
  /// }
  /// ```
  ///
  /// Once the loop has ended, no body runs, and any thread may close the descriptor.
  public func dispose() { watches.remove(self) }

  /// What the watch is to be called for.
  var currentInterest: Loop.Readiness { Loop.Readiness(rawValue: interest.load(ordering: .relaxed)) }
}

/// Why a loop does not watch a descriptor.
public enum WatchError: Error, Hashable, Sendable {
  /// The loop was shut down.
  case closed
  /// The loop watches this descriptor already. If that was closed and opened again: its ``Watch`` was not disposed of.
  case alreadyWatched
  /// The process has no descriptors left for the loop's own.
  case noDescriptor
  /// The loop is a ``HostedLoop`` whose foreign loop is called, and polls no descriptor of this loop.
  case notPolled
  /// The system refuses the descriptor, with a code such as `EBADF`, which says that it is not open, or `EPERM`: files of a
  /// disk are always ready.
  case descriptorRefused(Int32)
}

extension WatchError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closed: "the loop was shut down"
    case .alreadyWatched: "the loop watches this descriptor already"
    case .noDescriptor: "no descriptor is left for the loop's poller"
    case .notPolled: "the foreign loop that hosts this loop polls no descriptor of it"
    case .descriptorRefused(let code): "the descriptor cannot be watched: \(Poller.Refusal(code: code))"
    }
  }
}
