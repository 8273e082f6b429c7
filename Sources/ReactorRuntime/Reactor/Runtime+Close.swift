import ReactorCore
import Synchronization

/// The end of a reactor.
extension Runtime {
  /// Any thread, with a reference to the reactor.
  @inlinable
  func close<R: Reactor<Action, Mutation, State>>(_ closing: Closing, of reactor: R) {
    ending.isWanted.store(true, ordering: .relaxed)
    if closing == .discard {
      // Who finds the reactor broken looks for the pipeline.
      _ = pipeline(of: reactor)
      insert(.broken)
    }
    refuseSends()
    if !state.wasBusy { runOrSchedule(reactor) }
  }

  /// Refuses what is sent from now on, and makes the owner look once more.
  @usableFromInline
  func refuseSends() {
    mailbox.ring.close()
    guard let overflow = makeOverflow() else { fatalError("a reactor cannot be closed: out of memory") }
    overflow.raise()
    overflow.notifyAll()
  }

  /// Whether and when the reactor has been closed.
  @usableFromInline
  var ending: Termination { endingReference.use { $0 } ?? endingReference.setIfNil(Termination()) }

  /// After a turn of a reactor that is closed. The owner.
  @usableFromInline
  func endIfDone() {
    // Sealed, before it is found empty: else something could be accepted after the end. Who closes makes the owner
    // look again after that: see `refuseSends()`.
    guard endingReference.isSet, mailbox.ring.wasSealed, mailbox.isEmpty, mailbox.reentrant.isEmpty else {
      return
    }
    end()
  }

  /// Nothing is left to be done. Any thread, once it has seen that as the owner.
  func end() {
    endingReference.use { ending in
      if ending.isOver { return }
      // Over before that: what a disposal sends here comes too late.
      ending.finish { pipelineReference.use { $0.endStreams() } }
    }
  }

  /// Whether the thread that runs this reactor's turns must not send to it: it was told to close, and this is not
  /// one of the turns in which it does what it had accepted.
  @usableFromInline
  var refusesOwner: Bool {
    endingReference.use { $0.isWanted.load(ordering: .relaxed) && ($0.isOver || !isInTurn) } ?? false
  }
}

/// What becomes of what a reactor holds that is closed.
public enum Closing: Sendable, Hashable {
  /// It is processed, and what it sends to itself in doing so.
  case drain
  /// It is destroyed, and each action is reported as ``SendError/closed``.
  case discard
}

extension Reactor {
  /// Refuses what is sent from now on, and ends the reactor when what it holds was processed or discarded.
  /// Any thread, from inside its turns too; waits for nobody, but on placement ``Placement/caller`` it may
  /// run the last turn. Calling it again does nothing, but that ``Closing/discard`` overrules an earlier
  /// ``Closing/drain``.
  ///
  /// Sends are refused with ``SendError/closed``. In the end the streams that `mutate` and the transforms
  /// have answered are disposed of. ``currentState`` keeps the last state.
  @inlinable
  public func close(_ closing: Closing = .drain) { runtime.close(closing, of: self) }

  /// Returns when a reactor for which ``close(_:)`` was called has ended. Any task.
  public func waitUntilClosed() async {
    let ending = runtime.ending
    await withCheckedContinuation { continuation in ending.whenOver { continuation.resume() } }
  }

  /// Waits until a reactor for which ``close(_:)`` was called has ended; false if that takes longer. Any
  /// thread, but not inside a turn of the reactor's or of its loop, where it would wait for itself.
  public func waitUntilClosed(before deadline: ContinuousClock.Instant) -> Bool {
    precondition(
      !runtime.isRunHere,
      """
      Problem: \(Self.self) waits for its own end inside of a turn.
      Likely cause: waitUntilClosed(before:) was called by mutate, reduce or an observer.
      Remedy: call it elsewhere; close() itself does not wait.
      """)
    return runtime.ending.wait(until: deadline)
  }
}

/// What happens when a transform ends: the reactor is closed, and what it was sent is reported.
extension Runtime {
  /// Any thread, with a reference to the reactor.
  @usableFromInline
  func breakDown(_ transform: Failure.Transform, _ error: (any Error)?) {
    // What was accepted until now is refused by the owner, one by one.
    insert(.broken)
    closeMailbox()
    pipelineReference.use { $0.endStreams() }
    report(.transform(transform, error), nil)
  }
}

/// What happens when nobody runs turns any more: actions that were accepted and then found the loop closed
/// are destroyed, and each is reported.
extension Runtime {
  /// Nobody will process what is inside. Whoever scheduled, and was refused by the loop.
  @usableFromInline
  func discardMailbox() {
    var discarded: [Work<Action>] = []
    var hasAll = true
    var isDone = false
    state.acquireScheduled()
    closeMailbox()
    repeat {
      // What the loop's thread sent from its turns is that thread's to touch, until it has run its last turn.
      hasAll = loop?.hasEnded != false
      discarded += hasAll ? mailbox.removeAll() : mailbox.removeFromRing()
      isDone = hasAll && mailbox.isEmpty
      state.release()
    } while tryReacquire()
    // Not as the owner: the handler may send to this reactor again.
    for work in discarded { lose(work, .closed) }
    // Else who is on the way in comes here, too.
    if isDone { end() }
    if !hasAll {
      loop?.whenEnded { [self] in
        // Refused: somebody else discards, who comes here too if need be.
        if state.trySchedule() { discardMailbox() }
      }
    }
  }

  /// Runs a step of a reactor that accepts nothing any more: its observers still come and go. Any thread.
  @usableFromInline
  func performAfterClose<R: Reactor<Action, Mutation, State>>(_ step: Step, of reactor: R) {
    if let loop, loop.isClosed, !loop.hasEnded {
      // What was accepted is still processed.
      return loop.whenEnded { [self] in performAfterClose(step, of: reactor) }
    }
    guard state.tryAcquire() else { return step.lose(.closed) }
    TurnMark.enter()
    step.run()
    TurnMark.leave()
    if loop == nil { return runTurns(of: reactor) }
    state.release()
    // Whoever found this thread to be the owner has left it something.
    runOrSchedule(reactor)
  }
}

extension Reactor {
  /// The end of this reactor as a part of ``Shutdown/close(_:before:)``.
  ///
  /// ```swift
  /// try Shutdown.close([orders.ending(), loop], before: .now + .seconds(10))
  /// ```
  ///
  /// - Parameter closing: As that of ``close(_:)``.
  public func ending(by closing: Closing = .drain) -> some Closeable {
    ReactorEnding(reactor: self, closing: closing)
  }
}

/// A reactor, and how it is to be closed.
private struct ReactorEnding<R: Reactor>: Closeable {
  let reactor: R
  let closing: Closing

  func beginClosing() { reactor.close(closing) }

  func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    let name = String(reflecting: R.self)
    if reactor.runtime.isRunHere { return [Unfinished(name: name, loop: nil, occupation: .closesItself)] }
    if reactor.waitUntilClosed(before: deadline) { return [] }
    let count = reactor.counters.waiting
    return [Unfinished(name: name, loop: nil, occupation: .waiting(actions: count))]
  }
}
