import BenchmarkSupport
import Dispatch
import Synchronization

/// The thread on which all repetitions run, in this process and in the child of ``Twin``. So another one can give up a repetition that
/// hangs: its threads may wait for each other forever, and nothing in them would notice.
///
/// It is one thread for all of them, and lives as long as the process: the child ends with the thread that starts it.
final class MeasuringThread: Sendable {
  private let job = Mutex<(@Sendable () -> Void)?>(nil)
  private let isGiven = DispatchSemaphore(value: 0)

  init() throws {
    try ThreadStart { [self] in
      while true {
        isGiven.wait()
        let next = job.withLock { job in
          defer { job = nil }
          return job
        }
        next?()
      }
    }.spawnDetached()
  }

  /// Runs `body` there, and returns or throws what it does. Throws ``Stalled`` if it takes longer than so many seconds: then it
  /// still runs, and the thread must not be used again. One call at a time.
  func run<Result: Sendable>(
    within seconds: Double, _ body: @escaping @Sendable () throws -> Result
  ) throws -> Result {
    let outcome = Handover<Swift.Result<Result, any Error>>()
    job.withLock { $0 = { outcome.give(Swift.Result { try body() }) } }
    isGiven.signal()
    guard let result = outcome.wait(atMost: seconds) else {
      throw Stalled("did not end within \(Int(seconds)) s")
    }
    return try result.get()
  }
}

extension RepetitionRequest {
  /// In seconds, how long a repetition may take before it must be hanging. Generous: for a debug build, an interpreter or a
  /// sanitizer, and since a repetition also makes what it measures, and checks it afterwards.
  var mostSeconds: Double {
    // What waits for actions or producers gives up by itself, after 20 or 120 s.
    600 + 30 * duration / 1e9 + Double(timeLimit) / 1e9 + 6e-5 * Double(reactors)
  }

  /// How long a child may take that measures it: longer than the child itself gives it.
  var mostSecondsOfChild: Double { mostSeconds + 10 }

  /// How long it may take, whether this process measures it or a child, which is then replaced before this process gives up.
  var mostSecondsOfAll: Double { mostSecondsOfChild + 20 }
}
