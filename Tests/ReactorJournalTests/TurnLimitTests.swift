import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

@testable import ReactorJournal

/// How much one turn records.
@Suite struct TurnLimitTests {
  @Test func `A turn ends when it has recorded as much as a reactor may hand over`() throws {
    let store = InMemoryStore()
    let journal = try makeJournal(store)
    let loop = try Loop(name: "turns")
    let ledger = Ledger(journal, on: .loop(loop))
    try ledger.recover()
    let mayRun = try loop.hold()
    for _ in 0..<1000 { ledger.send(.deposit(account: 1, amount: 1)) }
    mayRun.open()
    #expect(Threads.yield { ledger.latestState.changes == 1000 })
    try Shutdown.close([journal, loop], before: .now + .seconds(patience))
    expectSmallBatches(in: store)
  }

  @Test func `So does a turn on the thread that sends many actions at once`() throws {
    let store = InMemoryStore()
    let journal = try makeJournal(store)
    let ledger = Ledger(journal, on: .caller)
    try ledger.recover()
    ledger.send(contentsOf: (0..<1000).map { _ in .deposit(account: 1, amount: 1) })
    #expect(Threads.yield { ledger.latestState.changes == 1000 })
    try Shutdown.close([journal], before: .now + .seconds(patience))
    expectSmallBatches(in: store)
  }

  /// A run of records has a size of 32 bits.
  @Test func `A turn that records more than a run can have ends the journal, and nothing of it is written`()
    async throws
  {
    let store = InMemoryStore()
    var configuration = JournalConfiguration()
    configuration.turnBytes = 1000
    let journal = try Journal(store: store, configuration: configuration)
    let shop = Shop(journal)
    let mutations = [Ledger.Mutation](repeating: .added(account: 1, amount: 1), count: 100)
    try await shop.sendDurably { .from(mutations.prefix(10)) }
    let id = 5 as UInt128
    var reason: JournalError?
    do throws(DurabilityError) {
      try await shop.sendDurably({ .from(mutations) }, id: id)
    } catch {
      if case .notWritten(let error) = error { reason = error }
    }
    let error = try #require(reason)
    #expect("\(error)".contains("shop"))
    #expect(journal.failure == error)
    await #expect(throws: DurabilityError.notWritten(error)) {
      try await shop.sendDurably { .from(mutations) }
    }
    #expect(await eventually { shop.isClosed })
    try journal.end()
    #expect(store.batches.map(\.count) == [10])
  }

  private func makeJournal(_ store: InMemoryStore) throws -> Journal {
    var configuration = JournalConfiguration()
    (configuration.bufferBytes, configuration.commitBytes) = (200, 200)
    return try Journal(store: store, configuration: configuration)
  }

  /// A batch has at most what is pending when the last turn begins, what that turn records, and a few records more. One turn of all
  /// would have 14,000 bytes and more.
  private func expectSmallBatches(in store: InMemoryStore) {
    let sizes = store.batches.map(\.bytes.count)
    #expect(sizes.reduce(0, +) > 10_000)
    #expect(sizes.allSatisfy { $0 < 1000 })
  }
}
