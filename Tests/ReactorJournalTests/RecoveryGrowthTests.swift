import ReactorJournalTesting
import ReactorRuntime
import Testing

@testable import ReactorJournal

/// When the next snapshot is due after a restart.
@Suite struct RecoveryGrowthTests {
  /// Otherwise a reactor that shares its commits with others gets a snapshot at each start.
  @Test func `A recovery counts the bytes of its own records only`() async throws {
    let small = try await growth(with: [])
    #expect(small.records == 1)
    #expect(try await growth(with: ["large/1", "large/2"]).bytes == small.bytes)
  }

  /// What a recovery of a ledger counts that has one record, in one batch with those of others.
  private func growth(with others: [String]) async throws -> Growth {
    let store = InMemoryStore()
    let journal = try Journal(store: store)
    let ledgers = ["small"] + others
    let reactors = ledgers.map { Ledger(journal, entry: $0) }
    try journal.recover(reactors)
    store.hold()
    // The first commit waits, and the others share the second one.
    let first = Ledger(journal, entry: "first")
    try first.recover()
    first.send(.deposit(account: 1, amount: 1))
    while store.commitCount == 0 { await Task.yield() }
    for (index, reactor) in reactors.enumerated() {
      for _ in 0..<(index == 0 ? 1 : 50) { reactor.send(.deposit(account: 1, amount: 1)) }
    }
    store.release()
    try journal.end()
    #expect(store.batches.count == 2)
    let next = try Journal(store: store)
    let small = Ledger(next, entry: "small")
    let growth = try next.recover(small, next.entry("small"), nil).growth
    try next.end()
    return growth
  }
}
