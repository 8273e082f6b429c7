import ReactorCore
import Synchronization

/// What a loop does, round by round. Belongs to whoever runs them.
@usableFromInline
struct LoopRounds: Sendable {
  @usableFromInline var hosting: ScheduledReactors
  @usableFromInline var tasks = LoopTasks()

  /// - Parameter patience: After how many turns in vain a reactor is given up.
  @inlinable
  init(patience: Int, monitor: LoopMonitor) {
    hosting = ScheduledReactors(patience: patience, monitor: monitor)
  }

  /// Takes in what has come, and runs one turn of each reactor, and at most as many jobs, and timers, as a
  /// turn has actions. Answers how many actions, jobs and timers that were.
  @inlinable
  mutating func run(of loop: LoopState) -> Int {
    // At most each reactor once.
    _ = loop.intake.ring.drain { hosting.accept($0) }
    if loop.intake.hasContents.load(ordering: .relaxed) { takeContents(of: loop) }
    if loop.isClosed { hosting.close() }
    var processed = 0
    if !tasks.isEmpty { processed = runTasks(of: loop) }
    return processed + hosting.runTurns(upTo: loop.turnLimit)
  }

  @usableFromInline
  @inline(never)
  mutating func takeContents(of loop: LoopState) {
    var mail = loop.intake.takeContents()
    // Moved, not copied: that would count references to each.
    while let scheduled = mail.reactors.popLast() { hosting.accept(scheduled) }
    if mail.jobs.isEmpty, mail.timers.isEmpty { return }
    tasks.accept(mail, loop.monitor, loop.cancelledTimers)
  }

  @usableFromInline
  @inline(never)
  mutating func runTasks(of loop: LoopState) -> Int {
    if loop.isClosed { tasks.removeTimers(loop.monitor, loop.cancelledTimers) }
    loop.setRunningJob()
    defer { loop.setRunning(nil) }
    return tasks.run(upTo: loop.turnLimit, loop.monitor, loop.cancelledTimers)
  }

  /// Whether there is nothing to do but to wait for what comes, or for a timer.
  @inlinable
  var isResting: Bool { hosting.isEmpty && !tasks.hasJobs }

  /// Whether there is nothing to do and nothing to wait for.
  @inlinable
  var isDone: Bool { hosting.isEmpty && tasks.isEmpty }
}

/// The reactors that a loop's thread owns at the moment.
@usableFromInline
struct ScheduledReactors: Sendable {
  /// The monitor's list; whoever runs the rounds is its owner.
  @usableFromInline let reactors: WatchedList<Scheduled>
  /// Of each of them, how many turns it has had in vain.
  @usableFromInline var quietRounds: ContiguousArray<Int> = []
  @usableFromInline var patience: Int
  @usableFromInline let monitor: LoopMonitor

  /// - Parameter patience: After how many turns in vain a reactor is given up.
  @inlinable
  init(patience: Int, monitor: LoopMonitor) {
    self.patience = patience
    self.monitor = monitor
    reactors = monitor.hosted
    // So that the usual loop never allocates once it runs.
    quietRounds.reserveCapacity(64)
  }

  @inlinable
  var isEmpty: Bool { quietRounds.isEmpty }

  @inlinable
  mutating func accept(_ scheduled: consuming Scheduled) {
    _ = scheduled.serve(.begin)
    reactors.append(scheduled)
    quietRounds.append(0)
  }

  /// One turn of each, of so many actions; answers how many were processed in all.
  @inlinable
  mutating func runTurns(upTo limit: Int) -> Int {
    var processed = 0
    var index = 0
    let patience = patienceNow
    while index < quietRounds.count {
      let count = reactors[index].serve(.turn)
      if count > 0 { monitor.noteTurn(of: count) }
      processed += count
      quietRounds[index] = count > 0 ? 0 : quietRounds[index] + 1
      // Without patience, a turn that was not cut short was the last one: what it touched is still at hand.
      let isQuiet = patience == 0 ? count < limit : quietRounds[index] > patience
      if isQuiet, reactors[index].serve(.leave) != 0 {
        // May be the last reference: then the reactor ends here, on the loop.
        remove(at: index)
      } else {
        index += 1
      }
    }
    return processed
  }

  /// A look in vain at each of many costs more than to take one up again.
  @inlinable
  var patienceNow: Int { patience / max(1, quietRounds.count / 16) }

  /// The calling thread is no longer the owner of any of them, but still hosts them. Between turns.
  func suspend() { call(.suspend) }

  /// The calling thread goes on where one has suspended.
  func resume() { call(.begin) }

  /// Nothing more is accepted for any of them, and who has nothing to do is given up after one turn in vain.
  @inlinable
  mutating func close() {
    patience = 0
    call(.close)
  }

  @inlinable
  func call(_ call: LoopCall) {
    for index in quietRounds.indices { _ = reactors[index].serve(call) }
  }

  @inlinable
  mutating func remove(at index: Int) {
    let last = quietRounds.removeLast()
    if index < quietRounds.count { quietRounds[index] = last }
    _ = reactors.remove(at: index)
  }
}

/// What the thread of a loop has done by a runtime whose turns it runs.
@usableFromInline
enum LoopCall: Sendable {
  /// The loop has taken over what a sender scheduled: from here on its thread is the owner.
  case begin
  /// Its thread is no longer the owner, and nobody else until the loop begins again.
  case suspend
  /// Runs what was sent, at most a turn's limit, and answers how many actions that were.
  case turn
  /// Refuses what is sent from now on; may come again.
  case close
  /// Gives the ownership up; answers 0 if something arrived meanwhile and the loop is still the owner.
  case leave
  /// Answers how much waits in the mailbox, without what its own turns have sent. Any thread.
  case count
}

/// A runtime on its way to its loop, with the reactor, which it does not retain itself: as long as the loop
/// has something to do for it, the reactor stays.
@usableFromInline
struct Scheduled: Sendable {
  /// A closure, since it is made where the type of the reactor is known: what it calls is specialised, where
  /// the methods of a protocol would not be. It counts no references to the reactor or the runtime, whose
  /// first cache lines senders read.
  @usableFromInline let serve: @Sendable (LoopCall) -> Int
  @usableFromInline let reactor: any AnyObject & Sendable
  /// Whose turns these are.
  @usableFromInline let runtime: ObjectIdentifier

  @usableFromInline
  init(
    _ runtime: ObjectIdentifier, of reactor: any AnyObject & Sendable,
    _ serve: @escaping @Sendable (LoopCall) -> Int
  ) {
    self.serve = serve
    self.reactor = reactor
    self.runtime = runtime
  }
}
