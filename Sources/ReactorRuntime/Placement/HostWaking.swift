import Dispatch
import ReactorCore
import Synchronization

/// What makes a foreign loop run the rounds of a ``HostedLoop``.
protocol HostWaking: Sendable {
  /// What the foreign loop watches; nil if it is called.
  var descriptor: Int32? { get }

  /// Called before rounds for which the foreign loop was called. The thread that runs them, as for the other two.
  func beginRounds()

  /// Called after a round in which nothing was done. If nothing is left, arranges that the foreign loop runs rounds when
  /// something comes or a timer is due; returns false if something is left.
  func tryBecomeIdle(_ stepper: LoopStepper) -> Bool

  /// Called if something is left after as many rounds as the foreign loop has asked for.
  func wakeAgain()

  /// Whether the foreign loop was called, and has not begun the rounds for that. Any thread.
  var isCalled: Bool { get }
}

/// Makes a descriptor readable, which the foreign loop watches: that of a poller, which has the event count of the loop, its
/// first timer, and the descriptors that the loop watches itself.
final class DescriptorWaking: HostWaking {
  private let poller: Poller

  init(_ poller: Poller, of state: LoopState) throws(CoreError) {
    self.poller = poller
    // Never nil for an event count of this kind.
    let wake = state.inbox.wake.descriptor!
    do {
      try poller.add(wake, for: .readable, tag: 0)
    } catch {
      throw .noDescriptor
    }
    _ = state.inbox.arm { false }
  }

  var descriptor: Int32? { poller.descriptor }

  func beginRounds() { poller.wait(timeoutMilliseconds: 0) { _, _ in } }

  func tryBecomeIdle(_ stepper: LoopStepper) -> Bool {
    let state = stepper.loop.state
    let (isIdle, deadline) = stepper.checkForWork()
    if !isIdle { return false }
    state.inbox.wake.acknowledge()
    state.monitor.notePark()
    state.monitor.noteWakes(total: state.inbox.wake.wakes)
    // The check comes after arming: what comes later makes the descriptor readable.
    if !state.inbox.arm(unless: { state.inbox.isWaiting || state.isEnding }) { return false }
    poller.setTimer(deadline)
    return true
  }

  /// Keeps the descriptor readable.
  func wakeAgain() { poller.setTimer(1) }

  var isCalled: Bool { false }
}

/// Calls closures, which make the foreign loop run the rounds.
final class CalledWaking: HostWaking {
  /// Set once, before another thread has the loop. Weak: the loop has this.
  let hosted = WeakCell<HostedLoop>()
  private let signal = RoundsSignal()
  /// Set by each call, which is left out if it is set already. Rounds that begin clear it, and so see what the calls before were for:
  /// both acquire and release.
  private let called = Atomic(false)
  /// The calls that `onTimer` was asked for. Under a lock, since the next rounds may begin on another thread before these have
  /// requested their call.
  private let requested = SystemMutex(RequestedRounds())
  private let onTimer: (@Sendable (HostedLoop, Duration) -> Void)?
  private let onWake: @Sendable (HostedLoop) -> Void
  private let onRest: @Sendable (HostedLoop) -> Void

  /// - Parameters:
  ///   - onTimer: As that of ``HostedLoop``.
  ///   - onWake: As that of ``HostedLoop``; for the first rounds.
  ///   - onRest: Called in place of `onWake` at the end of rounds that leave something. If nil, `onWake` is called.
  init(
    onTimer: (@Sendable (HostedLoop, Duration) -> Void)?, onWake: @escaping @Sendable (HostedLoop) -> Void,
    onRest: (@Sendable (HostedLoop) -> Void)? = nil
  ) {
    self.onTimer = onTimer
    self.onWake = onWake
    self.onRest = onRest ?? onWake
  }

  var descriptor: Int32? { nil }

  /// Makes the rounds run, unless they are about to. Any thread.
  func wake() { signal.raise { call(onWake) } }

  func wakeAgain() { call(onRest) }

  private func call(_ closure: (HostedLoop) -> Void) {
    // Gone: then what is left was run when the loop went away. Ended: a reactor that is released afterwards closes the loop once
    // more, and by then there may be no foreign loop.
    guard let hosted = hosted.value, !hosted.loop.state.hasEnded else { return }
    if !called.exchange(true, ordering: .acquiringAndReleasing) { closure(hosted) }
  }

  var isCalled: Bool { called.load(ordering: .acquiring) }

  func beginRounds() { _ = called.exchange(false, ordering: .acquiringAndReleasing) }

  func tryBecomeIdle(_ stepper: LoopStepper) -> Bool {
    let (isIdle, deadline) = signal.lower(after: stepper)
    if let deadline { requestRounds(at: deadline) }
    return isIdle
  }

  private func requestRounds(at deadline: Int64) {
    let now = MonotonicTime.now
    guard let time = requested.withLock({ $0.request(for: deadline, at: now) }) else { return }
    let delay = Duration.nanoseconds(max(0, time - now))
    if let onTimer {
      if let hosted = hosted.value { onTimer(hosted, delay) }
    } else {
      _ = Deadline(after: delay) { [weak self] in self?.wake() }
    }
  }
}
