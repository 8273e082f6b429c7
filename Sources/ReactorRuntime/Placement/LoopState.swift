import ReactorCore
import Synchronization

/// What a loop and its thread share.
@usableFromInline
final class LoopState<C: Core>: Sendable {
  /// Reactors that were scheduled and not yet accepted. Each is inside at most once.
  @usableFromInline let ready: RingOn<C, Scheduled>
  /// Those that the loop's own thread scheduled, which must not wait for itself to make room.
  @usableFromInline let scheduledHere = OwnerQueue<Scheduled>(limit: .max)
  @usableFromInline let wake: EventCountOn<C>
  @usableFromInline let waiting: WaitStrategy
  @usableFromInline let turnLimit: Int
  /// The thread's token, 0 before it runs.
  @usableFromInline let token = Atomic<UInt64>(0)

  @usableFromInline
  init(waiting: WaitStrategy, turnLimit: Int) throws(CoreError) {
    precondition(turnLimit > 0, "the turn limit of a loop is \(turnLimit); it must be positive")
    ready = try RingOn(capacity: 1024)
    wake = try EventCountOn()
    self.waiting = waiting
    self.turnLimit = turnLimit
  }

  /// Relaxed: only the loop's own thread can find its own token there.
  @usableFromInline var isCurrent: Bool { token.load(ordering: .relaxed) == C.threadToken }

  /// Whether nothing is accepted any more. Any thread.
  @usableFromInline var isClosed: Bool { ready.isClosed }

  /// Refuses what is scheduled from now on.
  func close() {
    ready.close()
    wake.notify()
  }

  /// Hands a scheduled reactor to the loop; false once the loop is closed. Any thread.
  ///
  /// Waits only while more than a thousand other reactors are on their way in from other threads.
  @usableFromInline
  func submit(_ scheduled: Scheduled) -> Bool {
    if isCurrent { return !ready.isClosed && scheduledHere.tryAppend(scheduled, stamp: 0) }
    while true {
      switch ready.trySend(scheduled) {
      case .accepted:
        wake.notify()
        return true
      case .closed:
        return false
      case .full:
        DedicatedThread.yield()
      }
    }
  }

  /// The thread's main function. Inlinable, as all that it calls: where the core is not known, each look at the
  /// rings would go through witness tables.
  @inlinable
  func run() {
    token.store(C.threadToken, ordering: .relaxed)
    var hosting = LoopHosting(patience: waiting.patience)
    var pacer = Pacer<C>()
    var emptyRounds = 0
    while true {
      _ = ready.drain { hosting.accept($0) }
      while let scheduled = scheduledHere.removeFirst() { hosting.accept(scheduled) }
      let processed = hosting.runTurns()
      if processed > 0 {
        emptyRounds = 0
        if waiting != .busy, processed < turnLimit { pacer.wait(afterReceiving: processed) }
        continue
      }
      emptyRounds += 1
      if ready.isClosed, hosting.leaveAll(), ready.isEmpty, scheduledHere.isEmpty { return }
      if hosting.isEmpty, waiting == .parking, emptyRounds > waiting.patience {
        _ = wake.wait { ready.isReady || ready.isClosed || !scheduledHere.isEmpty }
        emptyRounds = 0
      } else {
        pause(after: emptyRounds)
      }
    }
  }

  @inlinable
  func pause(after emptyRounds: Int) {
    if waiting == .busy { return }
    C.pause()
    if emptyRounds % 256 == 0 { DedicatedThread.yield() }
  }
}
