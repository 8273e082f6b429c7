import ReactorCore
import Synchronization

/// The thread that runs the rounds of a hosted loop: the one that did so last.
final class HostingThread: Sendable {
  /// Weak: the stepper has the loop, which has this. Set once, before anybody else has it.
  let stepper = WeakCell<LoopStepper>()
  // Relaxed: a thread that finds its own token wrote it, or has got the token of one that has ended.
  private let token = Atomic<UInt64>(0)

  func note() { token.store(CurrentCore.threadToken, ordering: .relaxed) }

  /// Runs a round, if the caller is the one that must: who waits for room would wait for itself.
  func runsRoundHere() -> Bool {
    guard token.load(ordering: .relaxed) == CurrentCore.threadToken, let stepper = stepper.value,
      !stepper.loop.isCurrent
    else { return false }
    _ = stepper.step()
    return true
  }
}

/// A weak reference that is set once, before other threads see it.
final class WeakCell<Object: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: written once, before it is handed to other threads; loading a weak reference is atomic.
  weak var value: Object?
}
