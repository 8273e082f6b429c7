import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

@testable import ReactorJournal

/// Entries whose reactors are not needed any more.
@Suite struct RetiringTests {
  private let store = InMemoryStore()

  /// Retires "ledger/1", and opens the gate when that is done.
  private static func retire(_ journal: Journal, opening isDone: Gate) async throws {
    try await journal.retire("ledger/1")
    isDone.open()
  }

  @Test func `A retired entry keeps no records, and its name begins anew`() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    do {
      let journal = try Journal(at: path)
      let ledger = Ledger(journal, entry: "kept")
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      for number in 0..<20 {
        try await Ledger(journal, entry: "order/\(number)").sendDurably(
          .deposit(account: 1, amount: 7), id: 5)
      }
      _ = try await journal.compact()
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      // Each order but the kept one has one state, and would keep all records.
      try await journal.retire((0..<20).map { "order/\($0)" })
      #expect(journal.entryNames == ["kept"])
      #expect(journal.currentMembers.map(\.entry.name) == ["kept"])
      #expect(try await journal.compact() > 20)
      let again = Ledger(journal, entry: "order/3")
      #expect(again.currentState == Ledger.State())
      // No `id` of the earlier one is known.
      try await again.sendDurably(.deposit(account: 1, amount: 2), id: 5)
      #expect(again.currentState.total == 2)
      try await journal.compact()
      try journal.end()
    }
    #expect(try JournalVerifier.verify(path).fault == nil)
    // The records are gone, and so are the rows.
    #expect(try JournalVerifier.verify(path).entries.map(\.row.name) == ["kept", "order/3"])
    let journal = try Journal(at: path)
    #expect(journal.entryNames == ["kept", "order/3"])
    #expect(Ledger(journal, entry: "kept").currentState.total == 2)
    #expect(Ledger(journal, entry: "order/3").currentState.total == 2)
    #expect(Ledger(journal, entry: "order/4").currentState == Ledger.State())
    try journal.end()
  }

  @Test func `The records of a retired entry have an entry until they are removed`() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    do {
      let journal = try Journal(at: path)
      try await Ledger(journal, entry: "first").sendDurably(.deposit(account: 1, amount: 1), id: 1)
      try await Ledger(journal, entry: "last").sendDurably(.deposit(account: 1, amount: 2), id: 2)
      try await journal.retire("last")
      try await Ledger(journal, entry: "last").sendDurably(.deposit(account: 1, amount: 4))
      try journal.end()
    }
    let report = try JournalVerifier.verify(path)
    #expect(report.fault == nil)
    #expect(report.entries.map(\.row.name) == ["first", "last", "last"])
    #expect(report.entries.map(\.row.until) == [nil, 2, nil])
    #expect(report.entries.map(\.recordCount) == [1, 1, 1])
    _ = try JournalVerifier.salvage(path, to: folder.file("saved"))
    #expect(try JournalVerifier.verify(folder.file("saved")).entries.map(\.row.until) == [nil, 2, nil])
    for path in [path, folder.file("saved")] {
      let journal = try Journal(at: path)
      #expect(Ledger(journal, entry: "last").currentState.total == 4)
      // A number that records have is not given to another entry.
      try await Ledger(journal, entry: "next").sendDurably(.deposit(account: 1, amount: 8))
      #expect(journal.log.withLock { $0.rows.keys.sorted() } == [1, 3, 4])
      try journal.end()
    }
    // What is left of the row is part of what is checked.
    try StoreDamageTests.execute("DELETE FROM entries WHERE number=2", on: path)
    #expect(throws: JournalError.badChecksum(position: 0)) { try Journal(at: path) }
  }

  @Test func `The number of a removed entry may be used again, also if a record of it has stopped processes`()
    async throws
  {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    for round in 0..<3 {
      do {
        let journal = try Journal(at: path)
        let ledger = Ledger(journal, entry: "order/\(round)")
        try ledger.recover()
        #expect(ledger.currentState == Ledger.State())
        try await ledger.sendDurably(.deposit(account: 1, amount: 1))
        #expect(journal.log.withLock { $0.rows.keys.sorted() } == [1])
        try journal.end()
      }
      for _ in 0..<2 {
        let mark = try ReplayMark(path: path + "-replay", retries: false)
        mark.words[0] = 1
        mark.store(1 + UInt64(round))
      }
      let journal = try Journal(at: path)
      #expect(throws: JournalError.trapped(entry: "order/\(round)", position: 1 + UInt64(round))) {
        try Ledger(journal, entry: "order/\(round)").recover()
      }
      try await journal.retire("order/\(round)")
      try await journal.compact()
      try journal.end()
      #expect(try JournalVerifier.verify(path).entries.isEmpty)
    }
  }

  @Test func `A retirement waits until the reactor is gone and its records are applied`() async throws {
    let journal = try Journal(store: store)
    var ledger: Ledger? = Ledger(journal)
    try await ledger!.sendDurably(.deposit(account: 1, amount: 1))
    let isDone = Gate()
    async let retired: Void = Self.retire(journal, opening: isDone)
    try await Task.sleep(for: .milliseconds(30))
    #expect(!isDone.wait(seconds: 0))
    ledger!.send(.deposit(account: 1, amount: 2))
    ledger = nil
    try await retired
    #expect(store.batches.count == 2)
    try journal.end()
    #expect(try store.open().entries.map(\.until) == [2])
  }

  @Test func `An entry in use is not retired, and its reactor goes on`() async throws {
    let journal = try Journal(store: store)
    var ledger: Ledger? = Ledger(journal)
    try await ledger!.sendDurably(.deposit(account: 1, amount: 1))
    try await Ledger.useOnce(journal, entry: "other")
    let number = journal.entry("other").number
    let task = Task { try await journal.retire(["other", "ledger/1"]) }
    while !journal.members.withLock({ $0.isRetiring(number) }) { await Task.yield() }
    // Meanwhile a reactor is not started with it, nor later; but that does not keep the others.
    let refused = Ledger(journal, entry: "other")
    #expect(refused.currentState == Ledger.State())
    task.cancel()
    // All of them or none.
    await #expect(throws: JournalError.inUse(entry: "ledger/1")) { try await task.value }
    await #expect(throws: DurabilityError.self) {
      try await refused.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(journal.entryNames == ["ledger/1", "other"])
    try await ledger!.sendDurably(.deposit(account: 1, amount: 1))
    #expect(ledger!.currentState.total == 2)
    #expect(Ledger(journal, entry: "other").currentState.total == 1)
    ledger = nil
    try await journal.retire("ledger/1")
    try await journal.retire("ledger/1")
    try await journal.retire("never there")
    #expect(journal.entryNames == ["other"])
    try journal.end()
    await #expect(throws: JournalError.fenced) { try await journal.retire("other") }
  }

  @Test func `A reactor that was refused while its entry was being retired can send when that has failed`()
    async throws
  {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    try await Ledger.useOnce(journal, entry: "other")
    let number = journal.entry("other").number
    let task = Task { try await journal.retire(["other", "ledger/1"]) }
    #expect(await eventually { journal.members.withLock { $0.isRetiring(number) } })
    let refused = Ledger(journal, entry: "other")
    await #expect(throws: DurabilityError.self) {
      try await refused.sendDurably(.deposit(account: 1, amount: 1))
    }
    task.cancel()
    await #expect(throws: JournalError.inUse(entry: "ledger/1")) { try await task.value }
    try await refused.sendDurably(.deposit(account: 1, amount: 1))
    #expect(refused.currentState.total == 2)
    try journal.end()
  }

  @Test func `A reactor that was refused does not keep the entry from being retired`() async throws {
    let journal = try Journal(store: store)
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
    let late = Ledger(journal)
    late.member.keep(try journal.recover(late, late.member.entry, nil))
    // A retirement that fails.
    let numbers: Set = [late.member.entry.number]
    #expect(journal.members.withLock { $0.tryBeginRetiring(numbers) })
    #expect(late.currentState.total == 1)
    journal.members.withLock { $0.cancelRetiring(numbers) }
    await #expect(throws: DurabilityError.self) {
      try await late.sendDurably(.deposit(account: 1, amount: 1))
    }
    // It is there, but can record nothing.
    try await journal.retire("ledger/1")
    withExtendedLifetime(late) {}
    #expect(journal.entryNames == [])
    try journal.end()
  }

  @Test func `Tasks may retire the same entries, and the next reactor with a name stays`() async throws {
    let journal = try Journal(store: store)
    for round in 0..<20 {
      for name in ["a", "b", "c"] {
        try await Ledger(journal, entry: name).sendDurably(.deposit(account: 1, amount: 1))
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for names in [["a", "b", "c"], ["c", "b", "a"], ["b", "b"], ["a", "c"]] {
          group.addTask { try await journal.retire(names) }
        }
        try await group.waitForAll()
      }
      #expect(journal.entryNames == [], "round \(round)")
    }
    // Somebody else is retiring it, and this waits for that.
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
    let numbers: Set = [journal.entry("ledger/1").number]
    #expect(journal.members.withLock { $0.tryBeginRetiring(numbers) })
    let isDone = Gate()
    async let second: Void = Self.retire(journal, opening: isDone)
    try await Task.sleep(for: .milliseconds(20))
    #expect(!isDone.wait(seconds: 0))
    let failure = await withCheckedContinuation { continuation in
      journal.enqueue(
        PendingRetirement(entries: Array(numbers)) { continuation.resume(returning: $0) })
    }
    #expect(failure == nil)
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 2))
    _ = journal.members.withLock { $0.removeAll(of: numbers) }
    try await second
    #expect(journal.entryNames == ["ledger/1"])
    #expect(Ledger(journal).currentState.total == 2)
    try journal.end()
  }

  @Test func `A reactor that starts with an entry that was retired is refused`() async throws {
    let journal = try Journal(store: store)
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
    let entry = journal.entry("ledger/1")
    try await journal.retire("ledger/1")
    let late = Ledger(at: entry)
    #expect(throws: JournalError.retired(entry: "ledger/1")) { try late.recover() }
    await #expect(throws: DurabilityError.notWritten(.retired(entry: "ledger/1"))) {
      try await late.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(store.batches.count == 1)
    try journal.end()
  }

  @Test func `A reactor whose state was read before its entry was retired writes nothing`() async throws {
    let journal = try Journal(store: store)
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
    let late = Ledger(journal)
    try late.member.ensureRecovered(late, retries: true, nil)
    try await journal.retire("ledger/1")
    // Nor if another thread uses it just then.
    try late.member.ensureRecovered(late, retries: true, nil)
    await #expect(throws: DurabilityError.self) {
      try await late.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(late.currentState.total == 1)
    try journal.end()
    #expect(store.batches.count == 1)
  }

  @Test func `An entry that was never used is retired`() async throws {
    let journal = try Journal(store: store)
    _ = journal.entry("unused")
    try await journal.retire("unused")
    #expect(journal.entryNames == [])
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
    try journal.end()
    #expect(try store.open().entries.map(\.name) == ["ledger/1"])
  }

  @Test func `A full disk retires nothing, and it may be tried again`() async throws {
    let journal = try Journal(store: store)
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
    store.failNextCommit(.diskFull)
    await #expect(throws: JournalError.diskFull) { try await journal.retire("ledger/1") }
    #expect(journal.failure == nil)
    #expect(journal.entryNames == ["ledger/1"])
    #expect(Ledger(journal).currentState.total == 1)
    try await journal.retire("ledger/1")
    #expect(journal.entryNames == [])
    try journal.end()
  }

  /// It would stay for ever.
  @Test func `A snapshot of a retired entry is not written`() async throws {
    let journal = try Journal(store: store)
    let other = Ledger(journal, entry: "other")
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
    let gone = journal.entry("ledger/1").number
    try await journal.retire("ledger/1")
    journal.enqueue(
      PendingSnapshot(
        snapshot: JournalSnapshot(entry: gone, position: 1, version: 0, bytes: []), finish: { _ in }))
    try await other.sendDurably(.deposit(account: 1, amount: 1))
    try await journal.compact()
    try journal.end()
    #expect(store.snapshots.map(\.entry) == [other.member.entry.number])
  }
}
