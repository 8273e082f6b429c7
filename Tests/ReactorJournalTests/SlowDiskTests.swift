import Glibc
import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// What reactors, their senders and their loops do while the disk is slow, and what that costs in memory.
@Suite struct SlowDiskTests {
  private let store = InMemoryStore()

  @Test(arguments: [Visibility.durable, .latest], [false, true])
  func `A slow disk stops the turns, and the overflow policy holds`(
    _ visibility: Visibility, onLoop: Bool
  ) async throws {
    let loop = try Loop()
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 4096
    let journal = try Journal(store: store, configuration: configuration)
    let refused = Atomic(0)
    let ledger = Ledger(
      journal, on: onLoop ? .loop(loop) : .caller, visibility: visibility, capacity: 256, overflow: .fail
    ) { _ in refused.add(1, ordering: .relaxed) }
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.hold()
    var sent = 1
    // Until the mailbox has stayed full for a moment.
    var refusals = 0
    while refusals < 50 {
      do {
        try ledger.trySend(.deposit(account: 1, amount: 1))
        sent += 1
        refusals = 0
      } catch .full {
        refusals += 1
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    ledger.send(.deposit(account: 1, amount: 1))
    #expect(refused.load(ordering: .relaxed) == 1)
    let reduced = ledger.latestState.changes
    // One group is being committed, one is pending, and each may be too large by one turn; a record has 14 bytes.
    #expect(reduced < 2 * (4096 / 14 + 1024) + 2)
    #expect(sent - reduced >= 256)
    store.release()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(ledger.durableState.changes == sent + 1)
    try Shutdown.close([journal, loop], before: .now + .seconds(30))
    let next = try Journal(store: store)
    #expect(Ledger(next).currentState.changes == sent + 1)
    try next.end()
  }

  @Test func `Senders that wait for room continue when the disk does`() async throws {
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 1024
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal, capacity: 16)
    let senders = (0..<3).map { thread in
      Threads.start { for _ in 0..<5000 { ledger.send(.deposit(account: UInt32(thread), amount: 1)) } }
    }
    for _ in 0..<50 {
      store.hold()
      try await Task.sleep(for: .milliseconds(1))
      store.release()
    }
    for sender in senders { #expect(sender.wait()) }
    try await ledger.sendDurably(.deposit(account: 9, amount: 1))
    #expect(ledger.durableState.changes == 15001)
    try journal.end()
  }

  @Test func `A durable send that is cancelled while there is no room writes nothing`() async throws {
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 256
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal, capacity: 16, overflow: .fail)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.hold()
    var (sent, refusals) = (1, 0)
    while refusals < 20 {
      do {
        try ledger.trySend(.deposit(account: 1, amount: 1))
        (sent, refusals) = (sent + 1, 0)
      } catch .full {
        refusals += 1
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    let waiting = Task { try await ledger.sendDurably(.deposit(account: 2, amount: 1)) }
    try await Task.sleep(for: .milliseconds(20))
    waiting.cancel()
    // It returns while the disk is still held.
    await #expect(throws: DurabilityError.refused(.cancelled)) { try await waiting.value }
    store.release()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(ledger.durableState.changes == sent + 1)
    #expect(ledger.durableState.balances[2] == nil)
    try journal.end()
  }

  /// A reactor that replies and records nothing, while an earlier record is being committed.
  @Test(arguments: [false, true])
  func `Replies that wait for a slow disk are bounded, too`(onLoop: Bool) async throws {
    // Otherwise a turn that does not end while requests come would hold more than the group may.
    let loop = try Loop(turnLimit: 16)
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 100 * 128
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal, on: onLoop ? .loop(loop) : .caller, capacity: 16, overflow: .fail)
    try await ledger.sendDurably(.deposit(account: 1, amount: 5))
    store.hold()
    ledger.send(.deposit(account: 1, amount: 1))
    while store.commitCount == 1 { await Task.yield() }
    let replies = Atomic(0)
    let refused = Atomic(0)
    var (asked, refusals) = (0, 0)
    // Until the mailbox has stayed full for a moment.
    while refusals < 50, asked < 10_000 {
      let before = refused.load(ordering: .relaxed)
      ledger.ask(
        { .balance(account: 1, $0) },
        completion: { result in
          let isRight = (try? result.get()) == 6
          if isRight { replies.add(1, ordering: .relaxed) } else { refused.add(1, ordering: .relaxed) }
        })
      if refused.load(ordering: .relaxed) == before {
        (asked, refusals) = (asked + 1, 0)
      } else {
        refusals += 1
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    #expect(replies.load(ordering: .relaxed) == 0)
    // One group is pending, and may be too large by one turn; the rest waits in the mailbox.
    #expect((116...133).contains(asked))
    store.release()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(replies.load(ordering: .relaxed) == asked)
    try Shutdown.close([journal, loop], before: .now + .seconds(30))
  }

  /// Stops the thread that runs the ledger's next turn, until `mayGoOn` opens.
  private func stopNextTurn(of ledger: Ledger) -> (isInside: Gate, mayGoOn: Gate, any Disposable) {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let subscription = ledger.action.take(1).subscribe(onNext: { _ in
      isInside.open()
      _ = mayGoOn.wait()
    })
    return (isInside, mayGoOn, subscription)
  }

  /// The sender of the first action is the owner, and processes what came meanwhile in further turns.
  @Test func `Replies of turns that a sender runs for others wait for the disk`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 5))
    let replies = Record<Int64>()
    let (isInside, mayGoOn, subscription) = stopNextTurn(of: ledger)
    store.hold()
    let isDone = Threads.start { ledger.send(.deposit(account: 1, amount: 1)) }
    #expect(isInside.wait())
    ledger.ask(
      { .depositAndReply(account: 1, amount: 1, $0) },
      completion: { result in if let balance = try? result.get() { replies.append(balance) } })
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(replies.elements == [])
    store.release()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(replies.elements == [7])
    subscription.dispose()
    try journal.end()
  }

  /// Otherwise what is recorded for others would grow with what they send.
  @Test func `A sender that runs turns for others stops while the disk is slow`() async throws {
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 1024
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal, capacity: 512)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    let (isInside, mayGoOn, subscription) = stopNextTurn(of: ledger)
    store.hold()
    let isDone = Threads.start { ledger.send(.deposit(account: 1, amount: 1)) }
    #expect(isInside.wait())
    for _ in 0..<400 { ledger.send(.deposit(account: 1, amount: 1)) }
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(ledger.counters.waiting > 200)
    store.release()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(ledger.durableState.changes == 403)
    subscription.dispose()
    try journal.end()
  }

  /// The loop has released the reactor, which comes back when there is room.
  @Test func `A loop that is shut down runs the reactors that wait for a slow disk, and ends`() async throws {
    let loop = try Loop()
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 1024
    let journal = try Journal(store: store, configuration: configuration)
    let lost = Atomic(0)
    let ledger = Ledger(journal, on: .loop(loop), capacity: 16, overflow: .fail) { _ in
      lost.add(1, ordering: .relaxed)
    }
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.hold()
    var (sent, refusals) = (1, 0)
    while refusals < 50 {
      do {
        try ledger.trySend(.deposit(account: 1, amount: 1))
        (sent, refusals) = (sent + 1, 0)
      } catch {
        refusals += 1
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    #expect(ledger.latestState.changes < sent)
    // Also if this test fails: the loop would not end.
    defer { store.release() }
    let begin = ContinuousClock.now
    try loop.shutdown(before: begin + .seconds(20))
    #expect(ContinuousClock.now - begin < .seconds(10))
    // Nothing was lost, though nothing is durable yet.
    #expect(ledger.latestState.changes == sent)
    #expect(ledger.currentState.changes == 1)
    #expect(lost.load(ordering: .relaxed) == 0)
    store.release()
    try journal.end()
    let next = try Journal(store: store)
    #expect(Ledger(next).currentState.changes == sent)
    try next.end()
  }

  /// The committer gives the reactor back at the moment at which the loop takes it back.
  @Test func `A loop that is shut down when the disk continues loses nothing`() async throws {
    for round in 0..<100 {
      let store = InMemoryStore()
      let loop = try Loop()
      var configuration = JournalConfiguration()
      configuration.bufferBytes = 256
      let journal = try Journal(store: store, configuration: configuration)
      let ledger = Ledger(journal, on: .loop(loop), capacity: 16, overflow: .fail)
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      store.hold()
      var (sent, refusals) = (1, 0)
      while refusals < 3 {
        do {
          try ledger.trySend(.deposit(account: 1, amount: 1))
          (sent, refusals) = (sent + 1, 0)
        } catch {
          refusals += 1
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      let release = Threads.start {
        for _ in 0..<round * 20 { CurrentCore.pause() }
        store.release()
      }
      try loop.shutdown(before: .now + .seconds(20))
      #expect(release.wait())
      try journal.end()
      #expect(ledger.latestState.changes == sent)
      #expect(store.batches.reduce(0) { $0 + Int($1.count) } == sent)
    }
  }

  /// The loop takes the reactor back though the journal is full, so all of the mailbox is handed over while the disk is slow.
  @Test func `What a loop hands over when it is shut down is written in batches of a limited size`()
    async throws
  {
    let loop = try Loop()
    var configuration = JournalConfiguration()
    (configuration.bufferBytes, configuration.commitBytes) = (1024, 1024)
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal, on: .loop(loop), capacity: 4096, overflow: .fail)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.hold()
    defer { store.release() }
    let effects = Atomic(0)
    var (sent, refusals) = (1, 0)
    while refusals < 50 {
      do {
        try ledger.trySend(.notify(account: 1, amount: 1) { effects.add(1, ordering: .relaxed) })
        (sent, refusals) = (sent + 1, 0)
      } catch {
        refusals += 1
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    try loop.shutdown(before: .now + .seconds(20))
    #expect(ledger.latestState.changes == sent)
    store.release()
    try journal.end()
    #expect(journal.failure == nil)
    #expect(effects.load(ordering: .relaxed) == sent - 1)
    let sizes = store.batches.map(\.bytes.count)
    #expect(sizes.reduce(0, +) > 4096 * 14)
    // What is pending when the last turn begins, and what that turn records; all of it would have 57,000 bytes.
    #expect(sizes.allSatisfy { $0 < 4096 })
    let next = try Journal(store: store)
    #expect(Ledger(next).currentState.changes == sent)
    try next.end()
  }

  /// Removing all of them would take seconds here, and minutes with a real disk.
  @Test func `A commit comes between two steps of a compaction`() async throws {
    let steps = Atomic(0)
    let slow = InterceptedStore(
      store,
      beforeRemoving: {
        steps.add(1, ordering: .relaxed)
        usleep(20_000)
      })
    let journal = try Journal(store: slow)
    let ledger = Ledger(journal)
    for _ in 0..<1600 { try await ledger.sendDurably(.deposit(account: 1, amount: 1)) }
    #expect(try await journal.compact() == 0)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    async let compacting = journal.compact()
    while steps.load(ordering: .relaxed) == 0 { await Task.yield() }
    var fewest = Int.max
    for _ in 0..<5 {
      let before = steps.load(ordering: .relaxed)
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      fewest = min(fewest, steps.load(ordering: .relaxed) - before)
    }
    // The step that is running, and perhaps one that begins before the committer sees the action. A task may be woken late.
    #expect(fewest <= 2)
    #expect(steps.load(ordering: .relaxed) < 101)
    #expect(try await compacting == 1600)
    #expect(steps.load(ordering: .relaxed) == 101)
    #expect(store.batches.count == 6)
    try journal.end()
  }
}
