/// How threads wait for their turn at a state with one place: its owner for readers, and readers for the end of a change.
/// `rr_access.h` documents the protocol.
///
/// They spin, then yield, then sleep on one of a few event counts that all states of the process share, so that a state
/// needs no memory for it. Two states may share one; then a thread may wake for nothing.
@usableFromInline
enum StateAccess {
  /// How often a thread checks, with pauses of about 20 ns, and how often with a yield, before it sleeps.
  private static var spins: Int { 128 }
  private static var yields: Int { 8 }
  /// How long the owner gives readers no other moment after one in which not all of them entered, in the units of
  /// `momentClock`. It is eight times as long as a moment.
  private static var pauseBetweenMoments: UInt32 { 20 }
  /// How often a reader that would close a circle tries again though the state is open.
  private static var mostRefusals: Int { 1000 }
  /// How long a reader sleeps before it says that it starves.
  private static var starvesAfter: Duration { .milliseconds(1) }

  // MARK: Readers

  /// Begins a read of a state that is being changed, or whose owner waits for readers. Any thread but the owner.
  @usableFromInline
  @inline(never)
  static func awaitRead(_ raw: CurrentCore.Trampoline) {
    // A third thread may wait for the end of this thread's turn or read, and be the one for which the owner waits.
    let passesHold = TurnMark.isSet
    raw.beginWaiting()
    var attempts = 0
    var starvesAt: ContinuousClock.Instant?
    var isStarving = false
    var refusals = 0
    // Holds back as well for a moment, so that readers in turns that overlap do not keep the owner out.
    while !raw.tryBeginRead(passingHold: passesHold && attempts >= spins / 2) {
      attempts += 1
      // A reader alone does not yield: if the owner has this processor, the system may let it keep that for some milliseconds, while a
      // thread that was woken comes first. Several would be woken again and again, which costs the owner more.
      if attempts <= spins || raw.wasWaitingCount > 1, tryPause(after: attempts) { continue }
      let limit = starvesAt ?? .now + starvesAfter
      starvesAt = limit
      if !isStarving, .now >= limit {
        raw.beginStarving()
        isStarving = true
      }
      if raw.wasHeld { notify(raw) }
      // It is open and this thread cannot enter: the kernel refuses the fence, and the owner must begin a change first.
      if raw.wasOpen(passingHold: passesHold) { DedicatedThread.yield() }
      if sleep(untilOpen: raw, passesHold, until: isStarving ? nil : limit) { continue }
      // It would close a circle if it slept, and cannot enter though the state is open: the kernel refuses the fence, and the owner,
      // which would give up the bias, is in that circle.
      refusals += 1
      if refusals > mostRefusals { stopForCircle() }
    }
    if isStarving { raw.endStarving() }
    raw.endWaiting()
    // The owner may wait until no reader starves.
    notify(raw)
  }

  /// - Parameter raw: A state that another thread changes, or for which its owner waits.
  /// - Returns: Whether it has slept. Otherwise that would have closed a circle, if the state were not open by now.
  private static func sleep(
    untilOpen raw: CurrentCore.Trampoline, _ passesHold: Bool, until limit: ContinuousClock.Instant?
  ) -> Bool {
    // Also a thread that is inside of no turn and of no read: it may be delivering the elements of a stream, and others may wait
    // for that.
    let wait = WaitGraph.Wait(
      thread: CurrentCore.threadToken, emptier: { raw.ownerToken },
      isOver: { raw.wasOpen(passingHold: passesHold) },
      wake: { notify(raw) }, reads: ThreadRead.states)
    return sleep(on: raw, until: limit, entering: wait)
  }

  // MARK: The owner

  /// Begins a change of a state that is being read, or for which readers wait. The owner, outside of a change.
  @usableFromInline
  @inline(never)
  static func awaitChange(_ raw: CurrentCore.Trampoline) {
    guard ThreadRead.innermost(of: raw.memory) == nil else {
      fatalError(
        """
        Problem: a thread changes a state that it is reading.
        Likely cause: code inside of withCurrentState runs the loop on which the reactor is.
        Remedy: return from withCurrentState what is needed, and run the loop afterwards.
        """)
    }
    // If the kernel refuses the fence, no reader could enter otherwise, and this would wait for it.
    raw.giveUpBias()
    if raw.wasWaitingCount > 0 {
      notify(raw)
      giveReadersMoment(raw)
    }
    var attempts = 0
    while raw.hasStarving {
      attempts += 1
      if !tryPause(after: attempts) { sleep(on: raw) { !raw.hasStarving } }
    }
    raw.holdReaders()
    attempts = 0
    while !raw.tryBeginHeldChange() {
      attempts += 1
      if !tryPause(after: attempts) { sleep(untilLeft: raw) }
    }
  }

  /// Waits a moment, in which readers that wait and run enter. Not at each change if they do not: those that sleep, or that the
  /// system has suspended, may miss many.
  private static func giveReadersMoment(_ raw: CurrentCore.Trampoline) {
    let owner = OwnerFields.pointer(in: raw.memory)
    if momentClock &- owner.pointee.fruitlessMoment < pauseBetweenMoments { return }
    for _ in 0..<spins {
      CurrentCore.pause()
      if raw.wasWaitingCount == 0 { return }
    }
    owner.pointee.fruitlessMoment = momentClock
  }

  /// The time in units of 1,024 ns, modulo 2 to the 32nd: 73 minutes.
  private static var momentClock: UInt32 { UInt32(truncatingIfNeeded: MonotonicTime.now / 1024) }

  private static func sleep(untilLeft raw: CurrentCore.Trampoline) {
    let wait = WaitGraph.Wait(
      thread: CurrentCore.threadToken, readersOf: raw.memory, isOver: { raw.wasReaderCount == 0 },
      wake: { notify(raw) }, reads: ThreadRead.states)
    _ = sleep(on: raw, entering: wait)
  }

  // MARK: Both

  /// Wakes the threads that sleep. Any thread.
  @usableFromInline
  static func notify(_ raw: CurrentCore.Trampoline) { withEventCount(of: raw) { $0.notify() } }

  /// Pauses, or yields; returns false if the thread has done that often enough.
  private static func tryPause(after attempts: Int) -> Bool {
    if attempts > spins + yields { return false }
    if attempts > spins { DedicatedThread.yield() } else { CurrentCore.pause() }
    return true
  }

  /// - Returns: Whether it has slept; otherwise the wait is over, and would have closed a circle.
  private static func sleep(
    on raw: CurrentCore.Trampoline, until limit: ContinuousClock.Instant? = nil, entering wait: WaitGraph.Wait
  ) -> Bool {
    switch WaitGraph.enter(wait) {
    case .sleeps: break
    case .triesAgain: return false
    case .wouldSleepForEver: stopForCircle()
    }
    defer { WaitGraph.leave(wait) }
    // Once: others may have begun to wait for this thread meanwhile, so it enters the graph again before it sleeps again.
    var checks = 0
    sleep(on: raw, until: limit) {
      checks += 1
      return checks > 2 || wait.isOver()
    }
    return true
  }

  private static func stopForCircle() -> Never {
    // An optimized build prints no message of preconditionFailure, and only services that are busy find such a circle.
    fatalError(
      """
      Problem: threads wait for each other's states in a circle.
      Likely cause: reduce of one reactor reads the state of another, whose reduce reads that of the first.
      Remedy: read other reactors' states in mutate, and pass on in the mutation what reduce needs.
      """)
  }

  private static func sleep(
    on raw: CurrentCore.Trampoline, until limit: ContinuousClock.Instant? = nil, _ condition: () -> Bool
  ) {
    let timeout = limit.map { limit in
      max(0, Int64(clamping: ContinuousClock.now.duration(to: limit).attoseconds / 1_000_000_000))
    }
    withEventCount(of: raw) { _ = $0.wait(timeoutNanoseconds: timeout, until: condition) }
  }
}

/// The event counts.
extension StateAccess {
  private static let table = AtomicReference<EventCountTable>()

  /// Makes the event counts, unless they are there. Before the first state with one place is used. Any thread.
  @usableFromInline
  static func prepare() throws(CoreError) {
    if table.use({ _ in }) == nil { _ = table.setIfNil(try EventCountTable()) }
  }

  private static func withEventCount(of raw: CurrentCore.Trampoline, _ body: (borrowing EventCount) -> Void) {
    // Not nil: the initializer of the state has made them.
    table.use { $0.withEventCount(of: raw.memory, body) }
  }
}

/// A few event counts, of which one belongs to each address.
///
/// `@unchecked Sendable`: the memory holds event counts, which any thread may use.
final class EventCountTable: @unchecked Sendable {
  private static var shift: UInt64 { 59 }
  static var count: Int { 1 << (64 - Int(shift)) }

  private let eventCounts: UnsafeMutablePointer<EventCount>

  init() throws(CoreError) {
    let made = UnsafeMutablePointer<EventCount>.allocate(capacity: Self.count)
    for index in 0..<Self.count {
      do throws(CoreError) {
        (made + index).initialize(to: try EventCount())
      } catch {
        made.deinitialize(count: index)
        made.deallocate()
        throw error
      }
    }
    // Not before: if this throws once all properties have values, `deinit` runs, too.
    eventCounts = made
  }

  deinit {
    eventCounts.deinitialize(count: Self.count)
    eventCounts.deallocate()
  }

  func withEventCount(of address: UnsafeMutableRawPointer, _ body: (borrowing EventCount) -> Void) {
    let index = (UInt64(UInt(bitPattern: address)) &* 0x9E37_79B9_7F4A_7C15) >> Self.shift
    body(eventCounts[Int(index)])
  }
}
