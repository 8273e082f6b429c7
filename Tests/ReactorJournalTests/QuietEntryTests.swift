import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

@testable import ReactorJournal

/// Reactors that are rarely used: they keep no records of others.
@Suite struct QuietEntryTests {
  private let store = InMemoryStore()

  /// Leaves a log in which "quiet" has two snapshots, and records behind the older one if asked.
  private func fill(_ store: any JournalStore, recordsBetween: Bool) async throws {
    let journal = try Journal(store: store)
    let (quiet, busy) = (Ledger(journal, entry: "quiet"), Ledger(journal, entry: "busy"))
    try await quiet.sendDurably(.deposit(account: 1, amount: 5))
    for round in 0..<2 {
      try await busy.sendDurably(.deposit(account: 1, amount: 1))
      try await journal.compact()
      if round == 0, recordsBetween { try await quiet.sendDurably(.deposit(account: 1, amount: 5)) }
    }
    try journal.end()
  }

  /// Uses "busy" alone, and compacts; returns up to where the records are removed.
  private func useOther(_ store: any JournalStore) async throws -> UInt64 {
    let journal = try Journal(store: store)
    let busy = Ledger(journal, entry: "busy")
    var base: UInt64 = 0
    for _ in 0..<3 {
      for _ in 0..<10 { try await busy.sendDurably(.deposit(account: 1, amount: 1)) }
      base = try await journal.compact()
    }
    try journal.end()
    return base
  }

  /// Otherwise ten thousand reactors that are made together, and used one after the other, read the log ten thousand times.
  @Test
  func `The first use of a reactor does not read what others have recorded since it was made`() async throws {
    let reads = Record<Int>()
    let intercepted = InterceptedStore(store, beforeReading: { reads.append(1) })
    let journal = try Journal(store: intercepted)
    let (quiet, busy) = (Ledger(journal, entry: "quiet"), Ledger(journal, entry: "busy"))
    for _ in 0..<10 { try await busy.sendDurably(.deposit(account: 1, amount: 1)) }
    let before = reads.elements.count
    try await quiet.sendDurably(.deposit(account: 1, amount: 5))
    #expect(reads.elements.count == before)
    for _ in 0..<10 { try await busy.sendDurably(.deposit(account: 1, amount: 1)) }
    try await quiet.sendDurably(.deposit(account: 1, amount: 2))
    #expect(quiet.currentState.total == 7)
    try journal.end()
    // Another process knows only by reading what an entry has.
    let next = try Journal(store: store)
    let again = [Ledger(next, entry: "quiet"), Ledger(next, entry: "busy")]
    #expect(again.map(\.currentState.total) == [7, 20])
    try next.end()
  }

  @Test
  func `An entry without records behind its older snapshot keeps none of others, though it is not started`()
    async throws
  {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    try await fill(SQLiteStore(path: path), recordsBetween: false)
    #expect(try await useOther(SQLiteStore(path: path)) == 23)
    let report = try JournalVerifier.verify(path)
    #expect(report.fault == nil)
    #expect(report.entries.map { $0.snapshots.map(\.position) } == [[3, 2], [33, 23]])
    for damaged in [nil, 3, 2] as [UInt64?] {
      if let damaged {
        try StoreDamageTests.execute("UPDATE snapshots SET checksum=1 WHERE position=\(damaged)", on: path)
      }
      let journal = try Journal(store: SQLiteStore(path: path))
      let quiet = Ledger(journal, entry: "quiet")
      if damaged == 2 {
        // Both are damaged.
        #expect(throws: JournalError.gap(position: 1)) { try quiet.recover() }
      } else {
        #expect(quiet.currentState.total == 5)
        #expect(Ledger(journal, entry: "busy").currentState.total == 32)
      }
      try journal.end()
    }
    #expect(try JournalVerifier.verify(path).fault == .gap(position: 1))
  }

  /// A state that was lost must not begin anew without a word.
  @Test func `Snapshots that cannot be read are an error also if nothing else is in the log`() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    try await fill(SQLiteStore(path: path), recordsBetween: false)
    _ = try await useOther(SQLiteStore(path: path))
    let journal = try Journal(store: SQLiteStore(path: path))
    try await journal.retire("busy")
    let base = try await journal.compact()
    try journal.end()
    #expect(base == 33)
    try StoreDamageTests.execute("UPDATE snapshots SET checksum=1", on: path)
    let next = try Journal(store: SQLiteStore(path: path))
    #expect(throws: JournalError.gap(position: 1)) { try Ledger(next, entry: "quiet").recover() }
    try next.end()
  }

  /// States of millions of entries would be written again and again, though nothing has changed in them.
  @Test func `The state of a quiet reactor is stored twice, and then no more`() async throws {
    let journal = try Journal(store: store)
    let (quiet, busy) = (Ledger(journal, entry: "quiet"), Ledger(journal, entry: "busy"))
    try await quiet.sendDurably(.deposit(account: 1, amount: 5))
    for round in 1...4 as ClosedRange<UInt64> {
      try await busy.sendDurably(.deposit(account: 1, amount: 1))
      // What both kept states of "busy" contain is removed all the same.
      #expect(try await journal.compact() == (round == 1 ? 0 : round))
      #expect(store.snapshots.filter { $0.entry == 1 }.map(\.position).max() == min(round, 2) + 1)
    }
    // It is not quiet any more.
    try await quiet.sendDurably(.deposit(account: 1, amount: 5))
    try await journal.compact()
    #expect(store.snapshots.filter { $0.entry == 1 }.map(\.position).max() == 6)
    try journal.end()
    let next = try Journal(store: store)
    #expect(Ledger(next, entry: "quiet").currentState.total == 10)
    try next.end()
  }

  @Test func `An entry with records behind its older snapshot keeps them`() async throws {
    try await fill(store, recordsBetween: true)
    #expect(try await useOther(store) == 2)
    let journal = try Journal(store: store)
    #expect(Ledger(journal, entry: "quiet").currentState.total == 10)
    try journal.end()
    // The older one alone is enough.
    store.snapshots.removeAll { $0.entry == 1 && $0.position > 2 }
    let next = try Journal(store: store)
    #expect(Ledger(next, entry: "quiet").currentState.total == 10)
    try next.end()
  }

  /// The store has removed some of them, and the rest follows after the next commits.
  @Test func `A quiet reactor is started while records are being removed`() async throws {
    try await fill(store, recordsBetween: false)
    let journal = try Journal(store: store)
    let busy = Ledger(journal, entry: "busy")
    for _ in 0..<40 { try await busy.sendDurably(.deposit(account: 1, amount: 1)) }
    let store = store
    let last = try journal.log.withLock { log in
      Result {
        for number in log.entriesToRead { try log.readStored(of: number, store) }
        // As if it had two snapshots with all its records.
        log.stored[busy.member.entry.number] = [43, 43]
        while try log.examineSome(of: store).hasMore {}
        let last = log.releaseSuperfluous()
        #expect(try log.removeSome(upTo: last, store))
        return last
      }
    }.get()
    #expect(last == 43)
    #expect(store.batches.first!.first > 4)
    #expect(journal.log.withLock { $0.end.base } == 2)
    #expect(Ledger(journal, entry: "quiet").currentState.total == 5)
    try journal.end()
  }

  @Test func `A replay up to a position whose records were removed says so`() async throws {
    try await fill(store, recordsBetween: false)
    let base = try await useOther(store)
    let idle = Ledger(try Journal(store: InMemoryStore()))
    #expect(throws: JournalError.removed(entry: "busy", until: base)) {
      try Journal.replay(store, idle, entry: "busy", until: base - 1) { _, _, _ in }
    }
    #expect(try Journal.replay(store, idle, entry: "busy", until: base) { _, _, _ in }.total == 22)
    // Without its states it is the journal that is damaged, not the position that was removed.
    store.snapshots = []
    for last in [base - 1, base, .max] {
      #expect(throws: JournalError.gap(position: 1)) {
        try Journal.replay(store, idle, entry: "busy", until: last) { _, _, _ in }
      }
    }
  }

  /// Of an entry that records nothing, it would read all records of the others.
  @Test func `A replay reads nothing behind the position at which it stops`() async throws {
    let journal = try Journal(store: store)
    let (quiet, busy) = (Ledger(journal, entry: "quiet"), Ledger(journal, entry: "busy"))
    try await quiet.sendDurably(.deposit(account: 1, amount: 5))
    for _ in 0..<3 { try await busy.sendDurably(.deposit(account: 1, amount: 1)) }
    try journal.end()
    store.batches[3].bytes = [1, 2, 3]
    let idle = Ledger(try Journal(store: InMemoryStore()))
    #expect(try Journal.replay(store, idle, entry: "quiet", until: 2) { _, _, _ in }.total == 5)
    #expect(throws: JournalError.malformed(position: 4)) {
      try Journal.replay(store, idle, entry: "quiet") { _, _, _ in }
    }
  }

  @Test func `The history of a quiet reactor begins with its older state`() async throws {
    try await fill(store, recordsBetween: false)
    _ = try await useOther(store)
    do {
      let journal = try Journal(store: store)
      try await Ledger(journal, entry: "quiet").sendDurably(.deposit(account: 1, amount: 2))
      try journal.end()
    }
    var totals: [Int64] = []
    let other = try Journal(store: InMemoryStore())
    let last = try Journal.replay(store, Ledger(other), entry: "quiet") { state, _, _ in
      totals.append(state.total)
    }
    #expect(totals == [7])
    #expect(last.total == 7)
    try other.end()
  }

  @Test func `A log that is damaged where no reactor needs it is kept, and the journal goes on`() async throws
  {
    let warnings = Record<JournalError>()
    var configuration = JournalConfiguration()
    configuration.onWarning = { warnings.append($0) }
    try await fill(store, recordsBetween: false)
    // The records behind the older snapshots, which nobody reads at a start.
    let journal = try Journal(store: store, configuration: configuration)
    let busy = Ledger(journal, entry: "busy")
    try busy.recover()
    let damaged = store.batches
    store.batches =
      damaged.dropLast().map { $0 }
      + [damaged.last!].map { batch in
        var batch = batch
        batch.bytes = [1, 2, 3]
        return batch
      }
    try await busy.sendDurably(.deposit(account: 1, amount: 1))
    #expect(try await journal.compact() == 2)
    try await busy.sendDurably(.deposit(account: 1, amount: 1))
    #expect(try await journal.compact() == 2)
    #expect(journal.failure == nil)
    #expect(warnings.elements.first == .malformed(position: 3))
    try journal.end()
  }

  @Test(arguments: [false, true])
  func `Whatever is compacted, retired and started, each entry has its own state again`(isFile: Bool)
    async throws
  {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    var random = SplitMix64(seed: 4)
    var totals: [String: Int64] = [:]
    var skipped = 0
    for _ in 0..<(isFile ? 60 : 100) {
      let used: any JournalStore = isFile ? SQLiteStore(path: path) : store
      let journal = try Journal(store: used)
      var started: [String: Ledger] = [:]
      for _ in 0..<Int.random(in: 1...25, using: &random) {
        let name = "entry/\(Int.random(in: 0..<6, using: &random))"
        switch Int.random(in: 0..<9, using: &random) {
        case 0: started[name] = nil
        case 1 where Bool.random(using: &random):
          started[name] = nil
          try await journal.retire(name)
          totals[name] = nil
        case 2, 3:
          let base = try await journal.compact()
          let kept = journal.log.withLock { $0.stored.values.compactMap(\.last) }
          if kept.contains(where: { $0 < base }) { skipped += 1 }
        default:
          let ledger = started[name] ?? Ledger(journal, entry: name)
          started[name] = ledger
          #expect(ledger.currentState.total == totals[name, default: 0])
          try await ledger.sendDurably(.deposit(account: 1, amount: 1))
          totals[name, default: 0] += 1
        }
      }
      started = [:]
      if !isFile, Bool.random(using: &random) { store.crash() }
      try journal.end()
      if isFile { #expect(try JournalVerifier.verify(path).fault == nil) }
    }
    #expect(skipped > (isFile ? 5 : 20))
  }
}
