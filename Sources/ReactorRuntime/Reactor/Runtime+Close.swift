import ReactorCore
import Synchronization

/// How a reactor is closed, and how it ends. The states and who moves between them: ``Lifecycle``.
extension Runtime {
  /// Any thread, with a reference to the reactor.
  @inlinable
  func close<R: Reactor<Action, Mutation, State>>(_ closing: Closing, of reactor: R) {
    if beginClosing(closing, of: reactor), !state.wasBusy { runOrSchedule(reactor) }
  }

  /// Refuses what is sent from now on.
  ///
  /// - Returns: Whether the owner must check the mailbox once more. An owner that is in a turn does so anyway.
  @inlinable
  func beginClosing<R: Reactor<Action, Mutation, State>>(_ closing: Closing, of reactor: R) -> Bool {
    // Made before the state changes, so that the thread that ends the reactor finds it.
    _ = ending
    let next = mailbox.ring.lifecycle.openToClosing(by: .reactor(closing))
    if closing == .discard {
      // The slow path looks for the pipeline.
      _ = pipeline(of: reactor)
      insert(.discarding)
    }
    switch next {
    case .nothing: return false
    case .seal: mailbox.ring.seal()
    case .notifyOwner: break
    }
    notifyOwnerOfClosing()
    return true
  }

  /// Makes an owner that is about to release check once more, and ends the waits of senders.
  @usableFromInline
  func notifyOwnerOfClosing() {
    guard let overflow = makeOverflow() else { fatalError("a reactor cannot be closed: out of memory") }
    overflow.raise()
    overflow.notifyAll()
  }

  /// Refuses what other threads send from now on: the loop was shut down. The loop, in each of its rounds from then on;
  /// or the thread that it has refused.
  @usableFromInline
  func closeByLoop() {
    switch mailbox.ring.lifecycle.openToClosing(by: .loop) {
    case .seal:
      Tracepoint.close(self)
      mailbox.ring.seal()
    case .notifyOwner, .nothing: break
    }
    mailbox.overflow.use { $0.notifyAll() }
  }

  /// A transform has ended: the reactor is closed, and reports what it holds. Any thread.
  @inlinable
  @inline(never)
  func breakDown<R: Reactor<Action, Mutation, State>>(
    _ transform: Failure.Transform, _ error: (any Error)?, of reactor: R
  ) {
    let ownerMustCheck = beginClosing(.discard, of: reactor)
    pipelineReference.use { $0.endStreams() }
    // Before what is discarded because of it.
    report(.transform(transform, error), nil)
    if ownerMustCheck, !state.wasBusy { runOrSchedule(reactor) }
  }

  /// What waits for the end. Made by the first thread that closes or waits.
  @usableFromInline
  var ending: Ending { endingReference.use { $0 } ?? endingReference.setIfNil(Ending()) }

  /// Ends the reactor if it is sealed and nothing is left. The owner, after each turn of a reactor that is closed.
  @usableFromInline
  func tryEnd() {
    // In this order: a mailbox that is empty after it was sealed stays empty. If it is sealed after this check, the
    // closer makes the owner check again.
    guard mailbox.ring.lifecycle.mayEnd, mailbox.isEmpty, mailbox.reentrant.isEmpty else { return }
    end()
  }

  /// Ends the reactor, unless it has ended or only its loop was shut down. The owner, or the thread that discards.
  func end() {
    guard mailbox.ring.lifecycle.sealedToEnded() else { return }
    // After the transition: what a disposal sends here comes too late.
    pipelineReference.use { $0.endStreams() }
    endingReference.use { $0.finish() }
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
    closeByLoop()
    repeat {
      // What the loop's thread sent from its turns is that thread's to touch, until it has run its last turn.
      hasAll = loop?.ending.isOver != false
      discarded += hasAll ? mailbox.removeAll() : mailbox.removeFromRing()
      isDone = hasAll && mailbox.isEmpty
      state.release()
    } while tryReacquire()
    // Not as the owner: the handler may send to this reactor again.
    for work in discarded { lose(work, .closed) }
    // Else who is on the way in comes here, too.
    if isDone { end() }
    if !hasAll {
      loop?.ending.whenOver { [self] in
        // Refused: somebody else discards, who comes here too if need be.
        if state.trySchedule() { discardMailbox() }
      }
    }
  }

  /// Runs a step of a reactor that accepts nothing any more: its observers still come and go. Any thread.
  @usableFromInline
  func performAfterClose<R: Reactor<Action, Mutation, State>>(_ step: Step, of reactor: R) {
    if let loop, loop.isClosed, !loop.ending.isOver {
      // What was accepted is still processed.
      return loop.ending.whenOver { [self] in performAfterClose(step, of: reactor) }
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
