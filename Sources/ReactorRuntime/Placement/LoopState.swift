import ReactorCore
import Synchronization

/// What a loop and its thread share.
@usableFromInline
final class LoopState<C: Core>: Sendable {
  @usableFromInline let intake: LoopIntake<C>
  @usableFromInline let waiting: WaitStrategy
  @usableFromInline let turnLimit: Int
  /// The thread's token while it runs, else 0: a thread that is made later may get the same token.
  @usableFromInline let token = Atomic<UInt64>(0)
  /// Whose turn the loop is running; 0 between turns. Relaxed: only the loop's thread gets a use of it.
  private let running = Atomic<UInt>(0)
  @usableFromInline let ending = LoopEnding()

  @usableFromInline
  init(waiting: WaitStrategy, turnLimit: Int) throws(CoreError) {
    precondition(turnLimit > 0, "the turn limit of a loop is \(turnLimit); it must be positive")
    intake = try LoopIntake()
    self.waiting = waiting
    self.turnLimit = turnLimit
  }

  /// Whether the calling thread is the loop's. Any thread. Relaxed: nobody else can find its token there.
  @usableFromInline var isCurrent: Bool { token.load(ordering: .relaxed) == C.threadToken }

  /// Whether the calling thread, the loop's, is inside a turn of that runtime.
  @usableFromInline
  func isRunning(_ runtime: AnyObject) -> Bool {
    running.load(ordering: .relaxed) == UInt(bitPattern: ObjectIdentifier(runtime))
  }

  /// The loop, around each turn.
  @usableFromInline
  func setRunning(_ runtime: AnyObject?) {
    running.store(
      runtime.map { UInt(bitPattern: ObjectIdentifier($0)) } ?? 0, ordering: .relaxed)
  }

  /// Whether nothing is accepted any more. Any thread.
  @usableFromInline var isClosed: Bool { intake.ring.isClosed }

  /// Hands a scheduled runtime to the loop; false once the loop is closed, but for what the loop's own turns
  /// schedule. Any thread.
  @usableFromInline
  func submit(_ scheduled: Scheduled) -> Bool {
    if !isCurrent { return intake.submit(scheduled) }
    intake.submitHere(scheduled)
    return true
  }

  /// Runs `body` with the calling thread in the place of the loop's own.
  func asCurrent<Result>(_ body: () -> Result) -> Result {
    token.store(C.threadToken, ordering: .relaxed)
    defer { token.store(0, ordering: .relaxed) }
    return body()
  }

  /// The thread's main function. Inlinable, as all that it calls: where the core is not known, each look at
  /// the rings would go through witness tables.
  @inlinable
  func run() {
    token.store(C.threadToken, ordering: .relaxed)
    var hosting = LoopHosting(patience: waiting.patience)
    var pacer = Pacer<C>()
    var emptyRounds = 0
    repeat {
      intake.drain { hosting.accept($0) }
      if isClosed { hosting.close() }
      let processed = hosting.runTurns()
      if processed > 0 {
        emptyRounds = 0
        if waiting != .busy, processed < turnLimit { pacer.wait(afterReceiving: processed) }
      } else if hosting.isEmpty, waiting == .parking, emptyRounds > waiting.patience {
        intake.wait()
        emptyRounds = 0
      } else {
        emptyRounds += 1
        pause(after: emptyRounds)
      }
    } while !(hosting.isEmpty && intake.isExhausted)
    token.store(0, ordering: .relaxed)
    ending.finish()
  }

  @inlinable
  func pause(after emptyRounds: Int) {
    if waiting == .busy { return }
    C.pause()
    if emptyRounds % 256 == 0 { DedicatedThread.yield() }
  }
}
