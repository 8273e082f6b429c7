import ReactorCore
import Synchronization

/// The life of a loop in one word: what it still accepts, and whether it has run its last turn.
///
/// ```
///          openToClosing()             closingToSealed()             sealedToEnded()
///   open ──────────────────▶ closing ────────────────────▶ sealed ──────────────────▶ ended
///          any thread                  runs the rounds               has seen "sealed"
/// ```
///
/// A phase only goes forward, so what a thread learns from a query stays true, except "open".
///
/// | | open | closing | sealed, ended |
/// |---|---|---|---|
/// | reactors, from other threads | accepted | refused once the ring is closed | refused |
/// | jobs and timers, from other threads | accepted | refused | refused |
/// | reactors and jobs, from the loop's own turns and jobs | accepted | accepted | none can come |
/// | pieces of tasks | accepted | accepted | run by ``LateJobs``, after the end |
///
/// - **open → closing.** The closed bit of the inbox's ring decides about each reactor that another thread submits: the
///   submit claims a slot before the bit is set, or it is refused. A thread that closes the loop first makes this
///   word closing and then sets that bit. All of them do both, because the one that made the transition may be
///   stopped in between: so the ring refuses by the time that any of them returns.
///
///   In between, the word says closing and the ring still accepts. Such a reactor is not lost: the loop is not
///   sealed before its ring is closed and empty. The reverse never happens: a thread that the ring has refused
///   finds the loop closed, because setting the bit releases and the refused claim acquires. A refused sender
///   depends on that: it goes on without the loop unless it finds a loop that is closed and has not ended.
/// - **closing → sealed.** The thread that runs the rounds makes this transition under the lock of the inbox, after it
///   has found the ring closed and empty and has nothing left to do. What does not go through the ring is added
///   under the same lock, by a thread that checks this word (or the ring's bit) there. So it is added before the
///   transition, which then does not happen yet, or it is refused. A reactor that has left until its journal has room is in a
///   list under the same lock until it is back, and the transition waits for it.
/// - **sealed → ended.** Nothing runs between the two but the return from the last round. In a loop without a thread,
///   the thread that sealed it may be stopped before this transition; then the next one that runs a round makes it.
///   The transition releases and `hasEnded` acquires: what the turns wrote happens before a thread takes over what
///   belonged to the loop's thread alone, such as the owner's queues of its reactors.
///
/// Then the thread that made the last transition runs the actions for the end: ``runEndActions()``. They may call code of
/// others, such as observers of reactors that are told their last state. A thread that waits for the end waits until they
/// have returned, too, or until its deadline.
///
/// Which thread is inside of a round is no part of this: see `LoopState.currentThread`.
///
/// The cases `looplife.*` of the model checker (Tests/Model) repeat this word, the inbox and the rounds.
@usableFromInline
struct LoopLifecycle: ~Copyable, Sendable {
  @usableFromInline
  enum Phase: UInt8, CaseIterable, Sendable {
    case open, closing, sealed, ended
  }

  @usableFromInline let word = Atomic(Phase.open.rawValue)
  private let termination = Termination()
  /// The end of the actions of `termination`.
  let completion = Termination()
  /// The token of the thread that is inside of these actions; 0 if there is none. Relaxed: a thread that finds its own
  /// token has stored it itself.
  private let endingThread = Atomic<UInt64>(0)

  @usableFromInline
  init() {}

  // MARK: Transitions

  // Each returns whether this call made it: of several threads that try, exactly one does. All acquire and release:
  // what was done in one phase happens before what is done in the next.

  /// Refuses jobs and timers of other threads. Any thread; the caller then closes the ring of the inbox, whatever this
  /// returns.
  func openToClosing() -> Bool { move(from: .open, to: .closing) }

  /// Nothing is left and nothing more is accepted. The thread that runs the rounds, under the lock of the inbox.
  func closingToSealed() -> Bool { move(from: .closing, to: .sealed) }

  /// The last round is over. Any thread that has found the loop sealed; the one that makes the transition then calls
  /// ``runEndActions()``.
  func sealedToEnded() -> Bool { move(from: .sealed, to: .ended) }

  private func move(from phase: Phase, to next: Phase) -> Bool {
    word.compareExchange(expected: phase.rawValue, desired: next.rawValue, ordering: .acquiringAndReleasing)
      .exchanged
  }

  // MARK: Queries, any thread

  /// Whether nothing more is accepted from other threads, or is about to be refused.
  // Acquire: a thread that finds the loop closed sees what was written before it was closed.
  @inlinable
  var isClosed: Bool { word.load(ordering: .acquiring) != Phase.open.rawValue }

  /// Whether the inbox is sealed. Final when read under the lock of the inbox.
  var isSealed: Bool { word.load(ordering: .acquiring) >= Phase.sealed.rawValue }

  /// Whether no turn will run any more.
  // Acquire: see "sealed → ended".
  @inlinable
  var hasEnded: Bool { word.load(ordering: .acquiring) == Phase.ended.rawValue }

  // MARK: Waiting for the end

  /// Runs `action` once the loop has ended: on the thread that ends it, or at once if it has ended. Any thread.
  func whenEnded(_ action: @escaping @Sendable () -> Void) { termination.whenOver(action) }

  /// Waits until the loop has ended and its ``runEndActions()`` has returned; returns false if that takes longer. Any
  /// thread that the loop does not need for its end. An action for the end does not wait for itself.
  func wait(until deadline: ContinuousClock.Instant) -> Bool {
    endingThread.load(ordering: .relaxed) == CurrentCore.threadToken || completion.wait(until: deadline)
  }

  /// Runs what waits for the end. The thread for which ``sealedToEnded()`` returned true, once.
  func runEndActions() {
    endingThread.store(CurrentCore.threadToken, ordering: .relaxed)
    termination.finish()
    endingThread.store(0, ordering: .relaxed)
    // Not before: what is left of the thread of the loop must be short for a thread that joins it.
    completion.finish()
  }
}
