import ReactorCore
import Synchronization

/// What a loop and its thread share.
@usableFromInline
final class LoopState: Sendable {
  let name: String
  @usableFromInline let intake: LoopInbox
  @usableFromInline let waiting: WaitStrategy
  @usableFromInline let turnLimit: Int
  let jobCapacity: Int
  /// The thread's token while it runs, else 0: a thread that is made later may get the same token.
  @usableFromInline let token = Atomic<UInt64>(0)
  /// That of the thread as long as it is there, also in what it does when the loop is over.
  @usableFromInline let thread = Atomic<UInt64>(0)

  /// The token of the thread that ran the last round of a loop without a thread. Relaxed: a hint.
  private let host = Atomic<UInt64>(0)
  /// Whose turn the loop is running; 0 between turns, 1 in a job. Relaxed: what is done by it only the loop's
  /// thread does.
  @usableFromInline let running = Atomic<UInt>(0)
  @usableFromInline let ending = Ending()
  @usableFromInline let monitor = LoopMonitor()
  let cancelledTimers = CancelledTimers()
  let lateJobs = LateJobs()
  /// Runs a round on the calling thread, if that is the one which must: see ``MainLoop``. False if not.
  let roundHere: (@Sendable () -> Bool)?

  @usableFromInline
  init(
    name: String, waiting: WaitStrategy, turnLimit: Int, jobCapacity: Int,
    waking kind: EventCountKind = .futex, bell: (@Sendable () -> Void)? = nil,
    roundHere: (@Sendable () -> Bool)? = nil
  ) throws(CoreError) {
    Self.check(turnLimit, "turnLimit", of: name)
    Self.check(jobCapacity, "jobCapacity", of: name)
    intake = try LoopInbox(waking: kind, bell: bell)
    self.name = name
    self.waiting = waiting
    self.turnLimit = turnLimit
    self.jobCapacity = jobCapacity
    self.roundHere = roundHere
  }

  private static func check(_ limit: Int, _ parameter: String, of name: String) {
    precondition(
      limit > 0,
      """
      Problem: the \(parameter) of the loop "\(name)" is \(limit).
      Likely cause: it was computed, or 0 was meant as "without a limit".
      Remedy: a positive number; .max is without a limit.
      """)
  }

  /// Whether the calling thread is the loop's. Any thread. Relaxed: nobody else can find its token there.
  @usableFromInline var isCurrent: Bool { token.load(ordering: .relaxed) == CurrentCore.threadToken }

  /// Likewise, and there are turns still to come. Not so in a job that comes when the loop is over: what that
  /// sends is refused, as what other threads send.
  @usableFromInline var runsTurnsHere: Bool { isCurrent && !ending.isOver }

  /// The token of the thread that makes room in the loop's mailboxes; 0 if there is none. Between the rounds of a
  /// hosted loop that is the thread which will run the next one, as far as can be known.
  var drainingThread: UInt64 {
    let running = token.load(ordering: .relaxed)
    return running == 0 && roundHere != nil ? host.load(ordering: .relaxed) : running
  }

  /// Whether the calling thread, the loop's, is inside a turn of that runtime.
  @usableFromInline
  func isRunning(_ runtime: AnyObject) -> Bool { wasRunning == UInt(bitPattern: ObjectIdentifier(runtime)) }

  /// As `running`. Any thread.
  var wasRunning: UInt { running.load(ordering: .relaxed) }

  /// The loop, around each turn.
  @inlinable
  func setRunning(_ runtime: ObjectIdentifier?) {
    running.store(runtime.map { UInt(bitPattern: $0) } ?? 0, ordering: .relaxed)
  }

  /// The loop, before jobs.
  func setRunningJob() { running.store(1, ordering: .relaxed) }

  /// Whether nothing is accepted any more. Any thread.
  @usableFromInline var isClosed: Bool { intake.ring.isClosed }

  /// Hands a scheduled runtime to the loop; false once the loop is closed, but for what the loop's own turns
  /// schedule. Any thread.
  @usableFromInline
  func submit(_ scheduled: Scheduled) -> Bool {
    if !runsTurnsHere { return intake.submit(scheduled) }
    intake.submitHere(scheduled)
    return true
  }

  /// Runs `body` with the calling thread in the place of the loop's own.
  func asCurrent<Result>(_ body: () -> Result) -> Result {
    host.store(CurrentCore.threadToken, ordering: .relaxed)
    token.store(CurrentCore.threadToken, ordering: .relaxed)
    defer { token.store(0, ordering: .relaxed) }
    return body()
  }
}

// MARK: The thread

extension LoopState {
  /// The thread's main function. Inlinable, as all that it calls: where the core is not known, each look at
  /// the rings would go through witness tables.
  @inlinable
  func run() {
    thread.store(CurrentCore.threadToken, ordering: .relaxed)
    token.store(CurrentCore.threadToken, ordering: .relaxed)
    var rounds = LoopRounds(patience: waiting.patience, monitor: monitor)
    var pacer = Pacer()
    var emptyRounds = 0
    repeat {
      let processed = rounds.run(of: self)
      if processed > 0 {
        emptyRounds = 0
        if waiting.kind != .busy, processed < turnLimit { pacer.wait(afterReceiving: processed) }
      } else if waiting.kind == .parking, emptyRounds > waiting.limit, rounds.isResting {
        park(until: rounds.tasks.deadline)
        emptyRounds = 0
      } else {
        emptyRounds += 1
        pause(after: emptyRounds)
      }
    } while !(isClosed && rounds.isDone && intake.end())
    token.store(0, ordering: .relaxed)
    ending.finish()
  }

  @inlinable
  func pause(after emptyRounds: Int) {
    // Now and then, since it costs as much as many looks.
    if emptyRounds % 64 == 0 { monitor.beat() }
    if waiting.kind == .busy { return }
    CurrentCore.pause()
    let looks = waiting.kind == .spinning ? waiting.limit : 256
    if emptyRounds % looks == 0 { DedicatedThread.yield() }
  }

  /// Sleeps until something comes, or the loop is closed, or that time; for no reason now and then.
  @inlinable
  func park(until deadline: Int64?) {
    let timeout = deadline.map { $0 - MonotonicTime.now }
    if let timeout, timeout <= 0 { return }
    var looks = 0
    _ = intake.wake.wait(timeoutNanoseconds: timeout) {
      looks += 1
      // The second look is the last one before the sleep.
      if looks == 2 {
        Tracepoint.park(self)
        monitor.notePark()
      }
      // One sleep at most, so that each is counted.
      return looks > 2 || intake.isReady
    }
    if looks > 1 { Tracepoint.wake(self) }
    monitor.noteWakes(total: intake.wake.wakes)
    monitor.beat()
  }
}
