import Dispatch
import Glibc
import ReactorCore
import Synchronization

/// Catches signals for ``MainLoopRunner/run(handling:)``, on a thread of its own.
///
/// The thread that catches signals blocks them, and what it starts inherits that: threads for their whole life, and programs
/// beyond `exec`. So it must not be the main thread, where turns may start both.
final class SignalThread: Sendable {
  private let event: EventDescriptor
  private let ending: EventDescriptor
  private let taken = Atomic(0)
  private let refusal = OwnerIsolated<MainLoopError?>(nil)
  private let hasBegun = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Starts the thread, and returns once it has caught the signals. ``restore()`` must follow.
  ///
  /// - Parameter numbers: The signals; at least one.
  init(catching numbers: [Int32]) throws(MainLoopError) {
    do {
      event = try EventDescriptor()
      ending = try EventDescriptor()
    } catch {
      throw MainLoopError(error)
    }
    if !DedicatedThread.tryDetach(named: "main-signals", { self.run(numbers) }) {
      throw .descriptorRefused(EAGAIN)
    }
    hasBegun.wait()
    // What the thread has stored before it signalled.
    if let refusal = refusal.value { throw refusal }
  }

  /// Readable once a signal has come.
  var descriptor: Int32 { event.descriptor }

  /// The first signal that came; nil if none has, or if it was taken before. Any thread.
  func take() -> Int32? {
    let signal = taken.exchange(0, ordering: .acquiring)
    return signal == 0 ? nil : Int32(signal)
  }

  /// Ends the thread, and returns once the signals have their usual effect again; also those that came and were not taken.
  func restore() {
    ending.signal()
    hasEnded.wait()
    if let signal = take() { kill(getpid(), signal) }
  }

  private func run(_ numbers: [Int32]) {
    let signals: CaughtSignals
    do {
      signals = try CaughtSignals(numbers)
    } catch {
      refusal.value = MainLoopError(error)
      hasBegun.signal()
      return
    }
    hasBegun.signal()
    var watched = [signals.descriptor ?? -1, ending.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    while watched[1].revents == 0 {
      guard poll(&watched, 2, -1) > 0, watched[0].revents != 0, let signal = signals.take() else { continue }
      // The rest stays where it is.
      watched[0].fd = -1
      taken.store(Int(signal), ordering: .releasing)
      event.signal()
    }
    signals.restore()
    hasEnded.signal()
  }
}
