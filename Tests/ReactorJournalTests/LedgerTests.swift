import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

/// A program of a user's, from the first action to the next start.
@Suite struct LedgerTests {
  private let store = InMemoryStore()

  @Test func `A reactor has its state again after a restart`() async throws {
    do {
      let journal = try Journal(store: store)
      let ledger = Ledger(journal)
      try ledger.recover()
      try await ledger.sendDurably(.deposit(account: 1, amount: 100))
      try await ledger.sendDurably(.transfer(from: 1, to: 2, amount: 30))
      #expect(ledger.durablePosition == 3)
      #expect(ledger.currentState.balances == [1: 70, 2: 30])
      try journal.end()
    }
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    #expect(ledger.currentState.balances == [1: 70, 2: 30])
    #expect(ledger.currentState.changes == 3)
    try journal.end()
  }

  @Test func `What was confirmed is there after a crash`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.crash()
    let next = try Journal(store: store)
    #expect(Ledger(next).currentState.balances == [1: 100])
    try next.end()
  }

  @Test func `What was being written at a crash is not there, and what comes later is refused`() async throws
  {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.hold()
    let commits = store.commitCount
    ledger.send(.deposit(account: 1, amount: 1))
    #expect(Threads.yield { store.commitCount > commits })
    store.crash()
    let next = try Journal(store: store)
    store.release()
    #expect(Threads.yield(seconds: 20) { journal.failure != nil })
    #expect(journal.failure == .fenced)
    let again = Ledger(next)
    try await again.sendDurably(.deposit(account: 1, amount: 2))
    #expect(again.currentState.balances == [1: 102])
    #expect(store.batches.map(\.first) == [1, 2])
    try next.end()
  }

  @Test func `A journal whose process was killed writes nothing, though no other one has begun`() async throws
  {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.crash()
    await #expect(throws: DurabilityError.notWritten(.fenced)) {
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(store.batches.count == 1)
  }

  @Test(arguments: [Visibility.durable, .latest])
  func `Many senders lose nothing`(_ visibility: Visibility) async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal, visibility: visibility)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for _ in 0..<2000 { ledger.send(.deposit(account: UInt32(task), amount: 1)) }
          try? await ledger.sendDurably(.deposit(account: UInt32(task), amount: 1))
        }
      }
    }
    #expect(ledger.durableState.changes == 8004)
    #expect(ledger.latestState == ledger.durableState)
    try journal.end()
    let next = try Journal(store: store)
    let again = Ledger(next)
    #expect(again.currentState.balances == [0: 2001, 1: 2001, 2: 2001, 3: 2001])
    try next.end()
  }

  @Test func `Reactors of a journal have states of their own`() async throws {
    do {
      let journal = try Journal(store: store)
      let loop = try Loop()
      let ledgers = (0..<5).map {
        Ledger(journal, entry: "ledger/\($0)", on: $0 % 2 == 0 ? .caller : .loop(loop))
      }
      for round in 0..<100 {
        for (index, ledger) in ledgers.enumerated() {
          ledger.send(.deposit(account: UInt32(round), amount: Int64(index)))
        }
      }
      for ledger in ledgers { try await ledger.sendDurably(.deposit(account: 1000, amount: 1)) }
      try Shutdown.close([journal, loop], before: .now + .seconds(30))
    }
    let journal = try Journal(store: store)
    for index in 0..<5 {
      let ledger = Ledger(journal, entry: "ledger/\(index)")
      #expect(ledger.currentState.total == Int64(index * 100 + 1))
      #expect(ledger.currentState.changes == 101)
    }
    try journal.end()
  }

  @Test func `A journal that another one has open is locked`() throws {
    let journal = try Journal(store: store)
    #expect(throws: JournalError.locked) { try Journal(store: store) }
    try journal.end()
    try Journal(store: store).end()
  }
}
