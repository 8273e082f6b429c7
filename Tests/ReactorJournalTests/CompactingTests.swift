import Glibc
import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

@testable import ReactorJournal

/// Storing states and removing records: which state is stored, and what they say and do while the disk is full or slow.
@Suite struct CompactingTests {
  private let store = InMemoryStore()

  @Test func `Compacting says that there was no room for a state, and stores it later`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.capacity = store.byteCount
    await #expect(throws: JournalError.diskFull) { try await journal.compact() }
    #expect(store.snapshots.isEmpty)
    #expect(journal.failure == nil)
    store.capacity = .max
    #expect(try await journal.compact() == 0)
    #expect(store.snapshots.map(\.position) == [1])
    try journal.end()
  }

  @Test func `A state for which there is no room is a warning, and records are written as before`()
    async throws
  {
    let warnings = Record<JournalError>()
    var configuration = JournalConfiguration()
    (configuration.snapshotRecords, configuration.snapshotRatio) = (2, 0)
    configuration.onWarning = { warnings.append($0) }
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    // Room for one more record.
    store.capacity = 2 * store.byteCount
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    let deadline = ContinuousClock.now + .seconds(patience)
    while warnings.elements.isEmpty, .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
    #expect(warnings.elements == [.diskFull])
    #expect(store.snapshots.isEmpty)
    store.capacity = .max
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(journal.failure == nil)
    #expect(warnings.elements == [.diskFull])
    try journal.end()
  }

  /// Reading all of them at once would hold the commits up for seconds.
  @Test func `A commit comes between the snapshots that a compaction reads`() async throws {
    let count = 60
    do {
      let journal = try Journal(store: store)
      for number in 0..<count {
        try await Ledger(journal, entry: "ledger/\(number)").sendDurably(.deposit(account: 1, amount: 1))
      }
      try journal.end()
    }
    let reads = Atomic(0)
    let journal = try Journal(
      store: InterceptedStore(
        store,
        beforeReadingSnapshots: {
          reads.add(1, ordering: .relaxed)
          usleep(20_000)
        }))
    let ledger = Ledger(journal, entry: "ledger/0")
    try ledger.recover()
    let before = reads.load(ordering: .relaxed)
    async let compacting = journal.compact()
    while reads.load(ordering: .relaxed) == before { await Task.yield() }
    var fewest = Int.max
    for _ in 0..<5 {
      let before = reads.load(ordering: .relaxed)
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      fewest = min(fewest, reads.load(ordering: .relaxed) - before)
    }
    // The one that is running, and perhaps one that begins before the committer sees the action. A task may be woken late.
    #expect(fewest <= 2)
    #expect(reads.load(ordering: .relaxed) < before + count - 1)
    #expect(try await compacting == 0)
    #expect(reads.load(ordering: .relaxed) == before + count - 1)
    try journal.end()
  }

  /// Otherwise a confirmation would wait until sixteen large states are written.
  @Test func `States are written apart from records, and few at a time`() async throws {
    let counts = Record<Int>()
    let seen = Atomic(0)
    var configuration = JournalConfiguration()
    (configuration.snapshotRecords, configuration.snapshotRatio, configuration.commitBytes) = (3, 0, 1)
    let journal = try Journal(
      store: InterceptedStore(
        store,
        afterCommitting: { [store] snapshots in
          let last = Int(store.batches.last?.first ?? 0)
          let hasRecords = last > seen.exchange(last, ordering: .relaxed)
          if !snapshots.isEmpty { counts.append(hasRecords ? 100 : snapshots.count) }
          // So that the next ones gather.
          usleep(2000)
        }), configuration: configuration)
    let ledgers = (0..<8).map { Ledger(journal, entry: "ledger/\($0)") }
    try journal.recover(ledgers)
    await withTaskGroup(of: Void.self) { group in
      for ledger in ledgers {
        group.addTask {
          for _ in 0..<10 { try? await ledger.sendDurably(.deposit(account: 1, amount: 1)) }
        }
      }
    }
    try await journal.compact()
    try journal.end()
    #expect(counts.elements.count >= 8)
    #expect(counts.elements.allSatisfy { $0 == 1 })
    #expect(Set(store.snapshots.map(\.entry)).count == 8)
  }

  /// Otherwise the end would wait until the states of all reactors that are due are written.
  @Test func `A journal that is closed begins no further snapshots`() throws {
    var configuration = JournalConfiguration()
    (configuration.snapshotRecords, configuration.snapshotRatio, configuration.commitBytes) = (10, 0, 1)
    let (isWriting, mayGoOn) = (Gate(), Gate())
    let journal = try Journal(
      store: InterceptedStore(
        store,
        afterCommitting: {
          if $0.isEmpty { return }
          isWriting.open()
          _ = mayGoOn.wait()
        }), configuration: configuration)
    let ledgers = (0..<200).map { Ledger(journal, entry: "ledger/\($0)") }
    try journal.recover(ledgers)
    for ledger in ledgers { for _ in 0..<10 { ledger.send(.deposit(account: 1, amount: 1)) } }
    #expect(isWriting.wait())
    journal.addWork { $0.mustStop = true }
    let inMemory = journal.snapshots.withLock { $0.running }
    mayGoOn.open()
    try journal.end()
    // The first one, and those that were in memory.
    #expect(inMemory > 0)
    #expect(store.snapshots.count >= inMemory)
    #expect(store.snapshots.count < 50)
    #expect(store.batches.reduce(0) { $0 + Int($1.count) } == 2000)
  }

  /// A released reactor must not keep the records of all others for ever.
  @Test func `The records of reactors that are gone are removed as long as their states are in memory`()
    async throws
  {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    for number in 0..<20 {
      try await Ledger.useOnce(journal, entry: "gone/\(number)")
    }
    // Each has one state.
    #expect(try await journal.compact() == 0)
    #expect(store.snapshots.map(\.position) == Array(repeating: 21, count: 21))
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(try await journal.compact() == 21)
    #expect(store.batches.count == 1)
    try journal.end()

    let next = try Journal(store: store)
    let again = (0..<20).map { Ledger(next, entry: "gone/\($0)") }
    try next.recover(again)
    #expect(again.allSatisfy { $0.currentState.total == 1 })
    try next.end()
  }

  /// To find those that must be started, so that the log can be compacted.
  @Test func `A journal lists the names of its entries in the order in which they were added`() async throws {
    let journal = try Journal(store: store)
    #expect(journal.entryNames == [])
    for name in ["b", "c", "a"] {
      try await Ledger(journal, entry: name).sendDurably(.deposit(account: 1, amount: 1))
    }
    _ = journal.entry("never used")
    _ = journal.entry("b")
    #expect(journal.entryNames == ["b", "c", "a", "never used"])
    try journal.end()
    #expect(journal.entryNames == ["b", "c", "a", "never used"])

    let next = try Journal(store: store)
    #expect(next.entryNames.starts(with: ["b", "c", "a"]))
    _ = next.entry("0")
    #expect(next.entryNames.last == "0")
    try next.end()
  }

  /// What the next reactor with the entry has written is not in the state of the earlier one.
  @Test func `A state of a reactor that was replaced is none of what the next one has written`() async throws
  {
    let journal = try Journal(store: store)
    let other = Ledger(journal, entry: "other")
    var total = 0
    for round in 1...50 {
      try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
      async let compacting = journal.compact()
      try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
      try await other.sendDurably(.deposit(account: 1, amount: 1))
      _ = try await compacting
      total = 2 * round
      let ledger = Ledger(journal)
      try ledger.recover()
      #expect(ledger.currentState.total == Int64(total))
    }
    try journal.end()
    let next = try Journal(store: store)
    let ledger = Ledger(next)
    try ledger.recover()
    #expect(ledger.currentState.total == Int64(total))
    try next.end()
  }

  @Test func `A state is not stored at the position of records that it does not contain yet`() async throws {
    let holds = Shared(Atomic(false))
    let (isCommitting, mayGoOn, isInEffect, mayEnd) = (Gate(), Gate(), Gate(), Gate())
    let intercepted = InterceptedStore(
      store,
      afterCommitting: { _ in
        if !holds.value.exchange(false, ordering: .relaxed) { return }
        isCommitting.open()
        _ = mayGoOn.wait()
      })
    var configuration = JournalConfiguration()
    configuration.snapshotRecords = nil
    let journal = try Journal(store: intercepted, configuration: configuration)
    // Nothing follows its durable state, so the committer runs its effects itself.
    let first = Ledger(journal, entry: "first", visibility: .latest)
    let (second, third) = (Ledger(journal, entry: "second"), Ledger(journal, entry: "third"))
    try await first.sendDurably(.deposit(account: 1, amount: 1))
    try await second.sendDurably(.deposit(account: 1, amount: 5))
    holds.value.store(true, ordering: .relaxed)
    third.send(.deposit(account: 1, amount: 1))
    #expect(isCommitting.wait())
    // Both are in the next commit, and the records of the second one are not applied before the effect has ended.
    first.send(
      .notify(account: 1, amount: 1) {
        isInEffect.open()
        _ = mayEnd.wait()
      })
    second.send(.deposit(account: 1, amount: 7))
    mayGoOn.open()
    #expect(isInEffect.wait())
    second.member.bound?.requestSnapshot()
    #expect(await eventually { journal.work.withLock { !$0.extras.snapshots.isEmpty } })
    mayEnd.open()
    try journal.end()
    let next = try Journal(store: store)
    #expect(Ledger(next, entry: "second").currentState.total == 12)
    try next.end()
  }
}
