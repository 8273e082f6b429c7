import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

@testable import ReactorJournal

/// Recovering many reactors at once, and what a journal keeps of many.
@Suite struct SharedRecoveryTests {
  private let store = InMemoryStore()
  private static let count = 40

  private func makeLedgers(_ journal: Journal, _ range: Range<Int> = 0..<count) -> [Ledger] {
    range.map { Ledger(journal, entry: "ledger/\($0)") }
  }

  /// Gives each of 40 reactors other records. Those with even numbers have snapshots, and records behind them.
  private func write() async throws {
    let journal = try Journal(store: store)
    let ledgers = makeLedgers(journal)
    for round in 0..<3 {
      for (number, ledger) in ledgers.enumerated() {
        ledger.send(.deposit(account: UInt32(round), amount: Int64(number)))
        ledger.send(.transfer(from: UInt32(round), to: 9, amount: 1))
      }
      for ledger in ledgers {
        try await ledger.sendDurably(.deposit(account: 5, amount: 1), id: UInt128(round))
      }
      if round == 1 { try await journal.compact() }
    }
    try journal.end()
    store.snapshots.removeAll { $0.entry % 2 == 1 }
  }

  @Test func `Many reactors are recovered with one pass over the log`() async throws {
    try await write()
    var expected: [Ledger.State] = []
    do {
      let journal = try Journal(store: store)
      for ledger in makeLedgers(journal) {
        try ledger.recover()
        expected.append(ledger.currentState)
      }
      try journal.end()
    }
    #expect(Set(expected.map(\.total)).count > 30)

    let passes = Record<Bool>()
    let journal = try Journal(store: InterceptedStore(store, beforeReading: { passes.append(true) }))
    // Two without records.
    let ledgers = makeLedgers(journal, 0..<(Self.count + 2))
    var last: RecoveryProgress?
    try journal.recover(ledgers) { last = $0 }
    #expect(passes.elements.count == 1)
    #expect(last?.position == journal.durablePosition)
    #expect(ledgers.prefix(Self.count).map(\.currentState) == expected)
    #expect(ledgers.prefix(Self.count).map(\.durableState) == expected)
    #expect(ledgers.suffix(2).map(\.currentState) == [Ledger.State(), Ledger.State()])
    // What was recovered goes on, with the identifiers of the requests.
    for (number, ledger) in ledgers.prefix(Self.count).enumerated() {
      try await ledger.sendDurably(.deposit(account: 5, amount: 1), id: 2)
      #expect(ledger.currentState == expected[number])
      try await ledger.sendDurably(.deposit(account: 5, amount: 1), id: 7)
      #expect(ledger.currentState.changes == expected[number].changes + 1)
    }
    try journal.end()
  }

  @Test func `A record that cannot be read starts none of them`() async throws {
    try await write()
    // The version of the first run in the last batch.
    store.batches[store.batches.count - 1].bytes[12] = 9
    let journal = try Journal(store: store)
    let ledgers = makeLedgers(journal)
    #expect(throws: JournalError.self) { try journal.recover(ledgers) }
    #expect(ledgers.allSatisfy { $0.member.bound == nil })
    try journal.end()
  }

  @Test func `Reactors that have started are left out`() async throws {
    try await write()
    let journal = try Journal(store: store)
    let ledgers = makeLedgers(journal)
    try await ledgers[3].sendDurably(.deposit(account: 1, amount: 1000))
    let state = ledgers[3].currentState
    try journal.recover(ledgers)
    try journal.recover(ledgers)
    #expect(ledgers[3].currentState == state)
    try journal.end()
  }

  @Test func `Snapshots that are asked for at the same time are not stored twice`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    for _ in 0..<50 {
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      async let one = journal.compact()
      async let other = journal.compact()
      _ = try await (one, other)
      let positions = store.snapshots.map(\.position)
      #expect(Set(positions).count == positions.count)
    }
    #expect(store.snapshots.map(\.position) == [49, 50])
    try journal.end()
  }

  @Test func `What a journal keeps of reactors that are gone is bounded`() throws {
    let journal = try Journal(store: store)
    let kept = makeLedgers(journal, 0..<10)
    for ledger in kept { try ledger.recover() }
    for number in 10..<5000 {
      try Ledger(journal, entry: "ledger/\(number)").recover()
      #expect(journal.currentMembers.count <= 64 + 1)
    }
    #expect(kept.allSatisfy { ledger in journal.currentMembers.contains { $0.bound?.reactor === ledger } })
    try journal.end()
  }

  @Test func `A closed journal keeps no reactor and is freed`() async throws {
    var journal: Journal? = try Journal(store: store)
    var ledger: Ledger? = Ledger(try #require(journal))
    try await ledger?.sendDurably(.deposit(account: 1, amount: 1))
    weak let freedJournal = journal
    weak let freedLedger = ledger
    try journal?.end()
    (journal, ledger) = (nil, nil)
    let deadline = ContinuousClock.now + .seconds(patience)
    while freedJournal != nil || freedLedger != nil, .now < deadline { await Task.yield() }
    #expect(freedLedger == nil)
    #expect(freedJournal == nil)
  }
}
