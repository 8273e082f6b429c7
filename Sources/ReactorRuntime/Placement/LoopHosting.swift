/// The reactors that a loop's thread owns at the moment.
@usableFromInline
struct LoopHosting: Sendable {
  @usableFromInline var reactors: ContiguousArray<(scheduled: Scheduled, quietRounds: Int)> = []
  @usableFromInline var patience: Int

  /// - Parameter patience: After how many turns in vain a reactor is given up.
  @inlinable
  init(patience: Int) {
    self.patience = patience
    // So that the usual loop never allocates once it runs.
    reactors.reserveCapacity(64)
  }

  @inlinable
  var isEmpty: Bool { reactors.isEmpty }

  @inlinable
  mutating func accept(_ scheduled: Scheduled) {
    scheduled.runtime.beginOnLoop()
    reactors.append((scheduled, 0))
  }

  /// One turn of each; answers how many actions were processed in all.
  @inlinable
  mutating func runTurns() -> Int {
    var processed = 0
    var index = 0
    while index < reactors.count {
      let count = reactors[index].scheduled.runtime.turnOnLoop()
      processed += count
      reactors[index].quietRounds = count > 0 ? 0 : reactors[index].quietRounds + 1
      if reactors[index].quietRounds > patience, reactors[index].scheduled.runtime.leaveLoop() {
        // May be the last reference: then the reactor ends here, on the loop.
        remove(at: index)
      } else {
        index += 1
      }
    }
    return processed
  }

  /// The calling thread is no longer the owner of any of them, but still hosts them. Between turns.
  func suspend() {
    for reactor in reactors { reactor.scheduled.runtime.suspendOnLoop() }
  }

  /// The calling thread goes on where one has suspended.
  func resume() {
    for reactor in reactors { reactor.scheduled.runtime.beginOnLoop() }
  }

  /// Nothing more is accepted for any of them, and who has nothing to do is given up after one turn in vain.
  @inlinable
  mutating func close() {
    patience = 0
    for reactor in reactors { reactor.scheduled.runtime.closeOnLoop() }
  }

  @inlinable
  mutating func remove(at index: Int) {
    reactors.swapAt(index, reactors.count - 1)
    reactors.removeLast()
  }
}
