import ReactorCore

/// The reactors that a loop's thread owns at the moment.
@usableFromInline
struct LoopHosting: Sendable {
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
