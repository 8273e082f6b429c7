import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

@testable import ReactorJournal

/// How the committer learns of its work, and in which order it does it.
@Suite struct CommitterTests {
  @Test func `The committer is woken only if it sleeps`() async throws {
    let store = InMemoryStore()
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    let others = (0..<100).map { Ledger(journal, entry: "\($0)") }
    try journal.recover(others)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    // It sleeps after 0.2 ms without work, and is woken then.
    let asleep = journal.wake.wakes
    let deadline = ContinuousClock.now + .seconds(patience)
    while journal.wake.wakes == asleep, .now < deadline {
      try await Task.sleep(for: .milliseconds(5))
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(journal.wake.wakes > asleep)
    // While it is in the middle of a commit, it is told of much, and not woken.
    store.hold()
    let commits = store.commitCount
    ledger.send(.deposit(account: 1, amount: 1))
    while store.commitCount == commits { await Task.yield() }
    let awake = journal.wake.wakes
    for other in others { other.send(.deposit(account: 1, amount: 1)) }
    #expect(journal.wake.wakes == awake)
    store.release()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    try journal.end()
  }

  /// To sleep a moment between two jobs would delay the end by all these moments.
  @Test func `A committer that must stop does not sleep while there is work`() throws {
    let journal = try Journal(store: InMemoryStore())
    @Sendable func add(_ rest: Int) { journal.addJob { if rest > 0 { add(rest - 1) } } }
    journal.addJob {
      journal.addWork { $0.mustStop = true }
      add(8000)
    }
    let begin = ContinuousClock.now
    #expect(journal.finishClosing(before: begin + .seconds(30)).isEmpty)
    #expect(ContinuousClock.now - begin < .seconds(6))
  }

  @Test func `An effect finds the position of its record durable`() async throws {
    var configuration = JournalConfiguration()
    configuration.snapshotRecords = nil
    let journal = try Journal(store: InMemoryStore(), configuration: configuration)
    let (ledger, found) = (Ledger(journal, visibility: .latest), Record<UInt64>())
    for _ in 0..<3 {
      ledger.send(.notify(account: 1, amount: 1) { found.append(ledger.durablePosition) })
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    try journal.end()
    #expect(found.elements.count == 3)
    #expect(zip(found.elements, [1, 3, 5]).allSatisfy { $0 >= $1 })
  }
}
