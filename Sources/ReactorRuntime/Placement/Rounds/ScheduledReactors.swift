import ReactorCore

/// The reactors that a loop's thread owns: those that have, or just had, something to do.
///
/// Only the thread that runs the rounds uses it.
@usableFromInline
struct ScheduledReactors: Sendable {
  /// The list of the monitor, where other threads may read it.
  @usableFromInline let list: WatchedList<ScheduledReactor>
  /// For each of them, how many turns without work it has had in a row.
  @usableFromInline var quietTurns: ContiguousArray<Int> = []
  @usableFromInline var patience: Int
  @usableFromInline let monitor: LoopMonitor

  /// - Parameter patience: After how many turns without work in a row a reactor is released.
  @inlinable
  init(patience: Int, monitor: LoopMonitor) {
    self.patience = patience
    self.monitor = monitor
    list = monitor.reactors
    // So that a loop of usual size never allocates here once it runs.
    quietTurns.reserveCapacity(64)
  }

  @inlinable
  var isEmpty: Bool { quietTurns.isEmpty }

  /// Makes the calling thread the owner of a reactor that a sender has scheduled.
  @inlinable
  mutating func accept(_ reactor: consuming ScheduledReactor) {
    _ = reactor.serve(.begin)
    list.append(reactor)
    quietTurns.append(0)
  }

  /// Runs one turn of each reactor, with at most `limit` actions; returns how many actions that were in all.
  @inlinable
  mutating func runTurns(upTo limit: Int) -> Int {
    var processed = 0
    var index = 0
    let patience = sharedPatience
    while index < quietTurns.count {
      let count = list[index].serve(.turn)
      if count > 0 { monitor.noteTurn(of: count) }
      processed += count
      quietTurns[index] = count > 0 ? 0 : quietTurns[index] + 1
      // Without patience, a reactor is released after a turn that did not reach the limit, while its memory is still
      // in the cache.
      let isQuiet = patience == 0 ? count < limit : quietTurns[index] > patience
      if isQuiet, list[index].serve(.leave) != 0 {
        // This may drop the last reference: then the reactor is destroyed here, on the loop.
        remove(at: index)
      } else {
        index += 1
      }
    }
    return processed
  }

  /// The number of quiet turns after which a reactor is released; smaller with many reactors, because polling them costs
  /// more than scheduling one again.
  @inlinable
  var sharedPatience: Int { patience / max(1, quietTurns.count / 16) }

  /// Releases the ownership of all of them between two rounds that different threads may run. They stay scheduled, so
  /// no other thread becomes the owner meanwhile.
  func suspend() { callEach(.suspend) }

  /// Makes the calling thread the owner of all of them, after ``suspend()``.
  func resume() { callEach(.begin) }

  /// Refuses what is sent to any of them, and from now on releases a reactor after its first turn without work.
  @inlinable
  mutating func close() {
    patience = 0
    callEach(.close)
  }

  @inlinable
  func callEach(_ call: LoopCall) {
    for index in quietTurns.indices { _ = list[index].serve(call) }
  }

  @inlinable
  mutating func remove(at index: Int) {
    let last = quietTurns.removeLast()
    if index < quietTurns.count { quietTurns[index] = last }
    _ = list.remove(at: index)
  }
}

/// A reactor that a sender has scheduled on its loop, with a reference to it. Its runtime does not retain it, so this
/// reference keeps it alive as long as the loop has something to do for it.
@usableFromInline
struct ScheduledReactor: Sendable {
  /// Calls the runtime. A closure, because it is made where the type of the reactor is known: what it calls is
  /// specialised, which the methods of a protocol would not be. It retains neither the reactor nor the runtime:
  /// senders read the cache lines of their reference counts.
  @usableFromInline let serve: @Sendable (LoopCall) -> Int
  @usableFromInline let reactor: any AnyObject & Sendable
  /// The runtime of the reactor.
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

/// The requests of a loop to a runtime.
@usableFromInline
enum LoopCall: Sendable {
  /// Makes the calling thread the owner of a reactor that is scheduled.
  case begin
  /// Releases the ownership; the reactor stays scheduled, so nothing becomes the owner until the next `begin`.
  case suspend
  /// Runs what was sent, up to the limit of a turn; returns how many actions that were.
  case turn
  /// Refuses what is sent from now on; may be repeated.
  case close
  /// Releases the ownership; returns 0 if something arrived meanwhile and the loop is still the owner.
  case leave
  /// Returns how much waits in the mailbox, without what its own turns have sent. Any thread.
  case count
}
