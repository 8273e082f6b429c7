import ReactorCore
import Synchronization

/// The main function of a loop's thread: round after round, until the loop is sealed.
extension LoopState {
  @inlinable
  func run() {
    ownThread.store(CurrentCore.threadToken, ordering: .relaxed)
    currentThread.store(CurrentCore.threadToken, ordering: .relaxed)
    var rounds = LoopRounds(quietLimit: waiting.quietLimit, monitor: monitor)
    var pacer = Pacer()
    var emptyRounds = 0
    var idleSince: Int64 = 0
    // For all rounds, not only for turns and jobs: the end of what these release, such as the `deinit` of a reactor, may send,
    // and must not wait for room either.
    let outer = TurnMark.enter()
    repeat {
      let processed = rounds.runRound(of: self)
      if processed > 0 {
        emptyRounds = 0
        if waiting.kind != .busy, processed < turnLimit { pacer.wait(afterReceiving: processed) }
      } else {
        emptyRounds += 1
        if emptyRounds == 1, waiting.kind == .parking, waiting.limit > 0 { idleSince = MonotonicTime.now }
        if waiting.kind != .parking || !isPatienceOver(after: emptyRounds, since: idleSince) {
          pause(after: emptyRounds)
        } else if rounds.isIdle {
          if let watches = rounds.tasks.watches {
            park(in: watches, until: rounds.tasks.deadline)
          } else {
            park(until: rounds.tasks.deadline)
          }
          emptyRounds = 0
          // It has not slept: it waits for a claim that another thread is about to publish, which may need this processor.
          if isClosed { DedicatedThread.yield() }
        } else {
          // One that cannot be released waits for a sender that is in the middle of a send.
          rounds.reactors.releasesQuiet = true
          pause(after: emptyRounds)
        }
      }
    } while !(isClosed && rounds.isDone && trySeal())
    TurnMark.leave(outer)
    currentThread.store(0, ordering: .relaxed)
    endIfSealed()
  }

  /// Whether nothing was done for as long as the wait strategy waits before it sleeps.
  ///
  /// - Parameters:
  ///   - emptyRounds: How many rounds in a row did nothing.
  ///   - idleSince: The time of the first of them.
  @inlinable
  func isPatienceOver(after emptyRounds: Int, since idleSince: Int64) -> Bool {
    // Not after the first: a loop that is closed does not sleep, and must pause while a sender is in the middle of handing it
    // a reactor.
    if waiting.limit == 0 { return emptyRounds > 1 }
    // Reading the clock costs as much as a round of a loop that owns no reactor. The second limit is for a clock that stands
    // still.
    if emptyRounds % 4 != 0 { return false }
    return MonotonicTime.now - idleSince >= Int64(waiting.limit) || emptyRounds > 1 << 30
  }

  /// Waits a moment after a round in which nothing was done.
  @inlinable
  func pause(after emptyRounds: Int) {
    // Not after each one, since reading the clock costs as much as many checks of the inbox.
    if emptyRounds % 64 == 0 { monitor.beat() }
    if waiting.kind == .busy { return }
    CurrentCore.pause()
    let spins = waiting.kind == .spinning ? waiting.limit : 256
    if emptyRounds % spins == 0 { DedicatedThread.yield() }
  }

  /// Sleeps until something comes, the loop is closed, or that time has come. It may also return early.
  @inlinable
  func park(until deadline: Int64?) {
    let timeout = deadline.map { $0 - MonotonicTime.now }
    if let timeout, timeout <= 0 { return }
    var checks = 0
    _ = inbox.wake.wait(timeoutNanoseconds: timeout) {
      checks += 1
      // The second check is the last one before the sleep.
      if checks == 2 {
        Tracepoint.park(self)
        monitor.notePark()
      }
      // At most one sleep, so that each is counted.
      return checks > 2 || inbox.isReady
    }
    if checks > 1 { Tracepoint.wake(self) }
    monitor.noteWakes(total: inbox.wake.wakes)
    monitor.beat()
  }
}

/// What a loop does in a round: it takes in what came, runs jobs and timers, and one turn of each reactor.
///
/// Only the thread that runs the rounds uses it.
@usableFromInline
struct LoopRounds: ~Copyable, Sendable {
  @usableFromInline var reactors: OwnedReactors
  @usableFromInline var tasks = LoopTasks()

  /// - Parameter quietLimit: After how many turns without work in a row the loop releases a reactor.
  @inlinable
  init(quietLimit: Int, monitor: LoopMonitor) {
    reactors = OwnedReactors(quietLimit: quietLimit, monitor: monitor)
  }

  /// Takes in what came beside the ring of the inbox, and runs at most as many jobs, and as many timers, as a turn has actions.
  /// Then runs one turn of each reactor: first of those that the loop owns, then of those that are in the ring. Returns how many
  /// actions, jobs and timers it ran.
  @inlinable
  mutating func runRound(of loop: LoopState) -> Int {
    if loop.inbox.hasContents.load(ordering: .relaxed) { takeContents(of: loop) }
    // What comes from here on has its turn in the next round. Otherwise a reactor that this round has released could come
    // again and again, while jobs and others wait.
    var arriving = loop.inbox.ring.isReady ? loop.inbox.ring.wasCount : 0
    if loop.isClosed { closeReactors(of: loop) }
    var processed = 0
    if !tasks.isEmpty { processed = runTasks(of: loop) }
    processed += reactors.runTurns(upTo: loop.turnLimit)
    while arriving > 0 {
      let limit = min(arriving, OwnedReactors.arrivalsAtOnce)
      let accepted = reactors.accept(closing: loop.isClosed) { arrivals in
        _ = loop.inbox.ring.drain(upTo: limit) { arrivals.append($0) }
      }
      // Otherwise it waits for a claim that is not published yet.
      if accepted.isEmpty { break }
      processed += reactors.runTurns(of: accepted, upTo: loop.turnLimit)
      arriving -= accepted.count
    }
    return processed
  }

  /// Refuses what is sent to any reactor, also to those that have left for a while.
  @usableFromInline
  @inline(never)
  mutating func closeReactors(of loop: LoopState) {
    for reactor in loop.inbox.suspended where reactor.perform(.takeBack) != 0 {
      loop.inbox.forgetSuspended(of: reactor.runtime)
      reactors.accept(closing: false) { $0.append(reactor) }
    }
    reactors.close()
  }

  @usableFromInline
  @inline(never)
  mutating func takeContents(of loop: LoopState) {
    var contents = loop.inbox.takeContents()
    // Moved out one by one, from the end: a copy would retain and release each.
    if !contents.reactors.isEmpty {
      contents.reactors.reverse()
      reactors.accept(closing: false) { arrivals in
        while let reactor = contents.reactors.popLast() { arrivals.append(reactor) }
      }
    }
    if contents.jobs.isEmpty, contents.timers.isEmpty, contents.watches == nil { return }
    tasks.accept(contents, loop.monitor, loop.cancelledTimers)
  }

  @usableFromInline
  @inline(never)
  mutating func runTasks(of loop: LoopState) -> Int {
    if loop.isClosed {
      tasks.removeTimersNotDue(loop.monitor, loop.cancelledTimers)
      tasks.endWatches(loop.monitor)
    }
    loop.setRunningJob()
    defer { loop.setRunning(nil) }
    return tasks.run(upTo: loop.turnLimit, loop.monitor, loop.cancelledTimers)
  }

  /// Whether there is nothing to do until something comes or a timer is due.
  @inlinable
  var isIdle: Bool { reactors.isEmpty && !tasks.hasJobs }

  /// Whether everything that was taken in is done, and no timer is left.
  @inlinable
  var isDone: Bool { reactors.isEmpty && tasks.isEmpty }
}

/// The reactors that a loop's thread owns: those that have, or just had, something to do.
///
/// Only the thread that runs the rounds uses it.
@usableFromInline
struct OwnedReactors: ~Copyable, Sendable {
  /// The list of the monitor, where other threads may read it.
  @usableFromInline let list: WatchedList<LoopReactor>
  /// For each of them, how many turns without work it has had in a row.
  @usableFromInline var quietTurns: ContiguousArray<Int> = []
  @usableFromInline var quietLimit: Int
  /// Whether the next round releases each reactor that has no work, since the loop is about to sleep.
  @usableFromInline var releasesQuiet = false
  @usableFromInline let monitor: LoopMonitor
  /// The indices of those that were released in the turns of the moment, ascending.
  @usableFromInline var released: ContiguousArray<Int> = []
  /// Those that have left the list, until their references are dropped.
  @usableFromInline var removed: ContiguousArray<LoopReactor> = []

  /// How many are taken out of the ring at once. What a turn touches of a reactor is about a kilobyte, and all of them should
  /// stay in the cache of a core from the prefetch to the end of their turns.
  @inlinable static var arrivalsAtOnce: Int { 64 }

  /// - Parameter quietLimit: After how many turns without work in a row a reactor is released.
  @inlinable
  init(quietLimit: Int, monitor: LoopMonitor) {
    self.quietLimit = quietLimit
    self.monitor = monitor
    list = monitor.reactors
    // So that a loop of usual size never allocates here once it runs.
    quietTurns.reserveCapacity(64)
    released.reserveCapacity(Self.arrivalsAtOnce)
    removed.reserveCapacity(Self.arrivalsAtOnce)
  }

  @inlinable
  var isEmpty: Bool { quietTurns.isEmpty }

  /// Makes the calling thread the owner of reactors that senders have scheduled; returns their indices.
  ///
  /// - Parameters:
  ///   - isClosing: Whether they refuse what is sent from now on, since the loop is closed.
  ///   - append: Appends them.
  @inlinable
  @discardableResult
  mutating func accept(
    closing isClosing: Bool, _ append: (inout ContiguousArray<LoopReactor>) -> Void
  ) -> Range<Int> {
    let first = quietTurns.count
    list.append(append)
    let accepted = first..<list.count
    // Their memory was last used by the threads that sent, or long ago. So it is requested for all of them before the first one
    // is waited for. More would not stay in the cache.
    if (3...Self.arrivalsAtOnce).contains(accepted.count) {
      for index in accepted { Prefetch.object(list.read(at: index) { $0.perform.runtime }) }
      for index in accepted { _ = perform(.prefetch, at: index) }
    }
    for index in accepted {
      quietTurns.append(0)
      _ = perform(.acquire, at: index)
      if isClosing { _ = perform(.close, at: index) }
    }
    return accepted
  }

  /// Runs one turn of each reactor, with at most `limit` actions; returns how many actions that were in all.
  @inlinable
  mutating func runTurns(upTo limit: Int) -> Int {
    let quietLimit = releasesQuiet ? 0 : sharedQuietLimit
    releasesQuiet = false
    return runTurns(of: quietTurns.indices, upTo: limit, quietLimit: quietLimit)
  }

  /// The same, of those that were accepted last.
  @inlinable
  mutating func runTurns(of accepted: Range<Int>, upTo limit: Int) -> Int {
    runTurns(of: accepted, upTo: limit, quietLimit: sharedQuietLimit)
  }

  @inlinable
  mutating func runTurns(of indices: Range<Int>, upTo limit: Int, quietLimit: Int) -> Int {
    var processed = 0
    for index in indices {
      let count = perform(.turn, at: index)
      if count > 0 { monitor.noteTurn(of: count) }
      processed += count
      quietTurns[index] = count > 0 ? 0 : quietTurns[index] + 1
      // With a limit of 0, a reactor is released after a turn that did not reach the limit, while its memory is still
      // in the cache.
      let isQuiet = quietLimit == 0 ? count < limit : quietTurns[index] > quietLimit
      if isQuiet, perform(.leave, at: index) != 0 { released.append(index) }
    }
    if !released.isEmpty { removeReleased() }
    return processed
  }

  /// Removes those that were released. Meanwhile a sender may have scheduled one of them again: then it is in the inbox, too.
  @inlinable
  mutating func removeReleased() {
    list.move(at: released, to: &removed)
    for index in released.reversed() {
      let last = quietTurns.removeLast()
      if index < quietTurns.count { quietTurns[index] = last }
    }
    let areFew = released.count <= Self.arrivalsAtOnce
    released.removeAll(keepingCapacity: areFew)
    // This may drop last references: then those reactors are destroyed here, on the loop.
    removed.removeAll(keepingCapacity: areFew)
    // What their destruction took is not a part of the next turn.
    if !areFew { monitor.beat() }
  }

  /// The number of quiet turns after which a reactor is released; smaller with many reactors, because polling them costs
  /// more than scheduling one again.
  @inlinable
  var sharedQuietLimit: Int { quietLimit / max(1, quietTurns.count / 16) }

  /// Releases the ownership of all of them between two rounds that different threads may run. They stay scheduled, so
  /// no other thread becomes the owner meanwhile.
  func releaseAll() { callEach(.reschedule) }

  /// Makes the calling thread the owner of all of them, after ``releaseAll()``.
  func acquireAll() { callEach(.acquire) }

  /// Refuses what is sent to any of them, and from now on releases a reactor after its first turn without work.
  @inlinable
  mutating func close() {
    quietLimit = 0
    callEach(.close)
  }

  @inlinable
  func callEach(_ request: LoopRequest) {
    for index in quietTurns.indices { _ = perform(request, at: index) }
  }

  @inlinable
  @inline(__always)
  func perform(_ request: LoopRequest, at index: Int) -> Int { list.read(at: index) { $0.perform }(request) }
}

/// A reactor that a sender has scheduled on its loop, with a reference to it. Its runtime does not retain it, so this
/// reference keeps it alive as long as the loop has something to do for it.
@usableFromInline
struct LoopReactor: Sendable {
  @usableFromInline let perform: BoundLoopHandler
  @usableFromInline let reactor: any AnyObject & Sendable

  @usableFromInline
  init(_ runtime: ObjectIdentifier, of reactor: any AnyObject & Sendable, _ handler: @escaping LoopHandler) {
    perform = BoundLoopHandler(handler: handler, runtime: runtime, reactor: ObjectIdentifier(reactor))
    self.reactor = reactor
  }

  /// The runtime of the reactor.
  var runtime: ObjectIdentifier { perform.runtime }
}

/// How a loop calls the runtimes of one type of reactors. A closure, so that the code it calls is
/// specialised for the reactor's type, which the methods of a protocol would not be. It captures nothing; the loop passes the runtime
/// and the reactor.
@usableFromInline
typealias LoopHandler =
  @Sendable (_ runtime: ObjectIdentifier, _ reactor: ObjectIdentifier, _ call: LoopRequest) -> Int

/// Calls one runtime. It retains neither that nor the reactor: senders read the cache lines of their reference counts.
@usableFromInline
struct BoundLoopHandler: Sendable {
  @usableFromInline let handler: LoopHandler
  @usableFromInline let runtime: ObjectIdentifier
  @usableFromInline let reactor: ObjectIdentifier

  @usableFromInline
  init(handler: @escaping LoopHandler, runtime: ObjectIdentifier, reactor: ObjectIdentifier) {
    self.handler = handler
    self.runtime = runtime
    self.reactor = reactor
  }

  @inlinable
  @inline(__always)
  func callAsFunction(_ call: LoopRequest) -> Int { handler(runtime, reactor, call) }
}

/// The requests of a loop to a runtime.
@usableFromInline
enum LoopRequest: Sendable {
  /// Requests the memory that a turn needs, without waiting for it. The reactor is scheduled.
  case prefetch
  /// Makes the calling thread the owner of a reactor that is scheduled.
  case acquire
  /// Releases the ownership; the reactor stays scheduled, so nothing becomes the owner until the next `acquire`.
  case reschedule
  /// Runs what was sent, up to the limit of a turn; returns how many actions that were.
  case turn
  /// Refuses what is sent from now on; may be repeated.
  case close
  /// Releases the ownership; returns 0 if something arrived meanwhile and the loop is still the owner.
  case leave
  /// Returns how much waits in the mailbox and beside it. Any thread.
  case count
  /// Withdraws that the reactor waits for its journal; returns 0 if it is about to come back by itself.
  case takeBack
}
