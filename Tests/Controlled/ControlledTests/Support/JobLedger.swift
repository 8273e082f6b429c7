import ControlledScheduler
import ReactorRuntime

/// What became of the jobs that were submitted to one loop. ``verify()`` checks the guarantees that hold for every loop.
final class JobLedger: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and no method has a point.
  private var submitted: Set<Int> = []
  private var accepted: Set<Int> = []
  private var refused: Set<Int> = []
  private var runs: [Int: Int] = [:]
  private var isClosing = false
  private var isClosed = false
  private var hasEnded = false
  private(set) var alive = 0

  /// Something that a job captures.
  private final class Capture: Sendable {
    private let ledger: JobLedger

    init(in ledger: JobLedger) {
      self.ledger = ledger
      ledger.alive += 1
    }

    deinit { ledger.alive -= 1 }
  }

  /// Submits job `id`, from inside of the loop or from another thread.
  func execute(_ id: Int, on loop: Loop, _ body: @escaping @Sendable () -> Void = {}) {
    precondition(submitted.insert(id).inserted, "two jobs have the number \(id)")
    let (isInside, wasClosed, capture) = (loop.isCurrent, isClosed, Capture(in: self))
    do {
      try loop.execute { [self] in
        withExtendedLifetime(capture) {}
        check(loop.isCurrent, "job \(id) runs outside of the loop")
        noteRun(of: id)
        body()
      }
      accepted.insert(id)
      check(isInside || !wasClosed, "job \(id) was accepted by a loop that was closed")
    } catch {
      refused.insert(id)
      check(error == .closed, "job \(id) was refused: \(error)")
      check(isClosing, "job \(id) was refused as closed by an open loop")
      check(!isInside, "job \(id) was refused although it came from the loop itself")
    }
  }

  // MARK: Timers

  /// A timer of the loop. Once is as much as it may run.
  final class Timer: @unchecked Sendable {
    // Unchecked: one thread runs at a time, and no method has a point, but for those of the loop.
    private let id: Int
    private let due: ContinuousClock.Instant
    private weak var capture: Capture?
    private(set) var runs = 0
    private var isDisposed = false
    private var handle: (any Disposable)?

    fileprivate init(_ id: Int, after delay: Duration, on loop: Loop, in ledger: JobLedger) throws(LoopError)
    {
      self.id = id
      due = .now + delay
      let capture = Capture(in: ledger)
      self.capture = capture
      handle = try loop.schedule(after: delay) { [unowned self] in
        withExtendedLifetime(capture) {}
        check(loop.isCurrent, "timer \(id) runs outside of the loop")
        check(.now >= due, "timer \(id) runs too early")
        check(!isDisposed, "timer \(id) runs although the loop itself had disposed of it")
        runs += 1
        check(runs == 1, "timer \(id) runs \(runs) times")
      }
    }

    /// Any thread.
    func dispose(on loop: Loop) {
      handle?.dispose()
      guard loop.isCurrent, runs == 0 else { return }
      isDisposed = true
      check(capture == nil, "timer \(id) still has what it captured")
    }

    /// After nothing is left to do: it was due, and nobody disposed of it.
    func verifyRun() { check(runs == 1, "timer \(id) was due, and ran \(runs) times") }
  }

  /// Sets timer `id`, on an open loop.
  func schedule(_ id: Int, after delay: Duration, on loop: Loop) -> Timer {
    do { return try Timer(id, after: delay, on: loop, in: self) } catch {
      ctl_fail("timer \(id) was refused: \(error)")
    }
  }

  // MARK: Rules

  /// While the loop is open: what it has accepted is done, since nothing is left to do.
  func verifyAtRest() {
    for id in accepted { check(runs[id] == 1, "job \(id) waits although the loop sleeps") }
  }

  func noteRun(of id: Int) {
    check(!hasEnded, "job \(id) runs after the end")
    runs[id, default: 0] += 1
  }

  /// Closes the loop, and waits for its end.
  func shutDown(_ loop: Loop) {
    isClosing = true
    loop.shutdown()
    noteEnd()
  }

  /// Closes the loop, and returns at once.
  func beginClosing(_ loop: Loop) {
    isClosing = true
    loop.beginClosing()
    isClosed = true
  }

  /// The loop has ended: what it has accepted is done, unless the submission has not returned.
  func noteEnd() {
    (isClosing, isClosed, hasEnded) = (true, true, true)
    for id in accepted { check(runs[id] == 1, "job \(id) was accepted, and not run before the end") }
  }

  /// After all threads have ended and all references are gone.
  func verify() {
    for id in submitted {
      let count = runs[id, default: 0]
      check(accepted.contains(id) != refused.contains(id), "the submission of job \(id) has not returned")
      check(count == (accepted.contains(id) ? 1 : 0), "job \(id) was run \(count) times")
    }
    check(alive == 0, "\(alive) captures of jobs are alive")
  }
}
