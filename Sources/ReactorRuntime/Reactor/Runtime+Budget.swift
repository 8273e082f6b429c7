import ReactorCore
import Synchronization

/// Limits how many actions of other threads a sender processes before it returns.
@usableFromInline
enum TurnBudget: Sendable {
  /// ``usualTurns`` full turns.
  case usual
  /// The same, but no action begins after this ``MonotonicTime``, except for one. Not an instant of a clock: the layout of that
  /// is looked up when the program runs, and each send would pay for it.
  case until(Int64)
  /// No limit: for a thread that was made to run these turns.
  case unlimited

  /// The budget of a sender that gives up at a deadline, if there is one.
  ///
  /// Inlined, so that a caller without a deadline pays nothing: the layout of an instant is looked up, too, where an optional
  /// one is compared with nil.
  @inlinable
  @inline(__always)
  init(before deadline: ContinuousClock.Instant?) {
    if let deadline { self = .until(MonotonicTime.at(deadline)) } else { self = .usual }
  }

  /// After how many full turns a thread of its own continues.
  static var usualTurns: Int { 256 }
}

/// What is left of a ``TurnBudget``.
@usableFromInline
struct TurnAllowance: Sendable {
  /// When a turn ends after the action that it is in the middle of: in the time of ``MonotonicTime``; `.max` is never.
  @usableFromInline let deadline: Int64
  @usableFromInline private(set) var isSpent = false
  private let turnLimit: Int
  private var left: Int

  @usableFromInline
  init(_ budget: TurnBudget, turnLimit: Int) {
    self.turnLimit = turnLimit
    (left, deadline) =
      switch budget {
      case .usual: (turnLimit * TurnBudget.usualTurns, .max)
      case .until(let deadline): (turnLimit * TurnBudget.usualTurns, deadline)
      case .unlimited: (.max, .max)
      }
  }

  /// Notes that a turn has processed that many actions.
  @usableFromInline
  mutating func note(_ processed: Int) {
    left -= processed
    if left <= 0 || (deadline != .max && MonotonicTime.now >= deadline) { isSpent = true }
  }

  /// Begins anew, since no other thread can continue.
  @usableFromInline
  mutating func extend() {
    isSpent = false
    left = turnLimit * TurnBudget.usualTurns
  }
}

/// Threads that run turns because no other thread should.
extension Runtime {
  /// Makes a thread that runs turns until the mailbox is empty, unless one is just being made. Any thread that does not
  /// own the reactor, on placement ``Placement/caller``. The order stays that of the mailbox. A pool would not do: all of
  /// its threads may be waiting for these turns.
  ///
  /// It is called where turns of reactors that send to each other have used half of the thread's stack, where a thread has
  /// processed as much for others as a sender does, and where it reads another reactor's state (`isReaderOfAnother`).
  ///
  /// Bit 0 of `newThreads` says that a thread is being made. That thread clears the bit when it has tried to acquire. A
  /// thread that finds the bit set leaves what it has sent to that one: its read-modify-write comes before the one that
  /// clears the bit, and afterwards the new thread processes what is there, or finds an owner that does.
  ///
  /// - Returns: False if the system refuses a thread.
  @inlinable
  @inline(never)
  func tryRunTurnsOnNewThread<R: Reactor<Action, Mutation, State>>(_ reactor: R) -> Bool {
    repeat {
      if newThreads.bitwiseOr(1, ordering: .sequentiallyConsistent).oldValue & 1 != 0 { return true }
      if !state.isBusy {
        let isStarted = DedicatedThread.tryDetach(named: "reactor-turns") {
          reactor.runtime.runTurnsAsNewThread(reactor)
        }
        if !isStarted { newThreads.bitwiseAnd(~1, ordering: .sequentiallyConsistent) }
        return isStarted
      }
      newThreads.bitwiseAnd(~1, ordering: .sequentiallyConsistent)
      // Once more, for what others have left to this thread meanwhile.
    } while !state.isBusy
    return true
  }

  @inlinable
  func runTurnsAsNewThread<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    let isOwner = state.tryAcquire()
    // Clears bit 0, and counts in the others.
    newThreads.wrappingAdd(1, ordering: .sequentiallyConsistent)
    if isOwner {
      runTurnsAndRelease(of: reactor, within: .unlimited)
    } else if !state.isBusy {
      acquireAndRunOrSchedule(reactor, within: .unlimited)
    }
  }
}
