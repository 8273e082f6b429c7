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
    submit(id, isInside: loop.isCurrent) { job throws(LoopError) in
      try loop.execute {
        check(loop.isCurrent, "job \(id) runs outside of the loop")
        job()
        body()
      }
    }
  }

  /// Submits job `id` by `post`, which throws if the loop refuses it.
  ///
  /// - Parameter isInside: Whether it comes from the loop itself.
  func submit(
    _ id: Int, isInside: Bool = false, _ post: (@escaping @Sendable () -> Void) throws(LoopError) -> Void
  ) {
    precondition(submitted.insert(id).inserted, "two jobs have the number \(id)")
    let (wasClosed, capture) = (isClosed, Capture(in: self))
    do {
      try post { [self] in
        withExtendedLifetime(capture) {}
        noteRun(of: id)
      }
      accepted.insert(id)
      check(isInside || !wasClosed, "job \(id) was accepted by a loop that was closed")
    } catch {
      refused.insert(id)
      checkRefusal(of: "job \(id)", error)
      check(!isInside, "job \(id) was refused although it came from the loop itself")
    }
  }

  private func checkRefusal(of name: String, _ error: LoopError) {
    check(error == .closed, "\(name) was refused: \(error)")
    check(isClosing, "\(name) was refused as closed by an open loop")
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
        ledger.checkOpen("timer \(id)")
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

  /// Sets timer `id`. Returns nil if the loop refuses it, since it is closed.
  func schedule(_ id: Int, after delay: Duration, on loop: Loop) -> Timer? {
    let wasClosed = isClosed
    do {
      let timer = try Timer(id, after: delay, on: loop, in: self)
      check(!wasClosed, "timer \(id) was accepted by a loop that was closed")
      return timer
    } catch {
      checkRefusal(of: "timer \(id)", error)
      return nil
    }
  }

  // MARK: Rules

  /// While the loop is open: what it has accepted is done, since nothing is left to do.
  func verifyAtRest() {
    for id in accepted { check(runs[id] == 1, "job \(id) waits although the loop sleeps") }
  }

  func noteRun(of id: Int) {
    checkOpen("job \(id)")
    runs[id, default: 0] += 1
  }

  private func checkOpen(_ name: String) { check(!hasEnded, "\(name) runs after the end") }

  /// Closes the loop, and waits for its end, but not for timers: no scenario has jobs that take minutes.
  func shutDown(_ loop: Loop) {
    willClose()
    let begin = ContinuousClock.now
    loop.shutdown()
    noteEnd(after: begin.duration(to: .now))
  }

  /// Closes the loop, and returns at once.
  func beginClosing(_ loop: Loop) {
    willClose()
    loop.beginClosing()
    hasClosed()
  }

  /// The loop is about to be closed.
  func willClose() { isClosing = true }

  /// A call that closes the loop has returned.
  func hasClosed() { isClosed = true }

  /// The loop has ended: what it has accepted is done, unless the submission has not returned.
  ///
  /// - Parameter duration: How long that has taken.
  func noteEnd(after duration: Duration = .zero) {
    check(duration < .seconds(600), "the loop has ended after \(duration): it has waited for a timer")
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
