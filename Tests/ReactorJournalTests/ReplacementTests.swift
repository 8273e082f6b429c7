import Glibc
import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

@testable import ReactorJournal

/// Reactors that take the place of others with the same entry.
@Suite struct ReplacementTests {
  private let store = InMemoryStore()

  /// Drops a ledger with a deposit of 100 that is durable and one of 5 that is being committed, and returns the next one.
  private func replaceLedger(_ journal: Journal) async throws -> Ledger {
    let entry = journal.entry("ledger/1")
    try await dropLedger(entry)
    return Ledger(at: entry)
  }

  private func dropLedger(_ entry: JournalEntry) async throws {
    let ledger = Ledger(at: entry)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.hold()
    let commits = store.commitCount
    ledger.send(.deposit(account: 1, amount: 5))
    while store.commitCount == commits { await Task.yield() }
  }

  @Test func `The next reactor with an entry begins with what the dropped one had not written yet`()
    async throws
  {
    let journal = try Journal(store: store)
    let next = try await replaceLedger(journal)
    let totals = Record<Int64>()
    let recovery = Threads.start { totals.append(next.currentState.total) }
    try await Task.sleep(for: .milliseconds(20))
    #expect(totals.elements == [])
    store.release()
    #expect(recovery.wait())
    #expect(totals.elements == [105])
    try await next.sendDurably(.deposit(account: 1, amount: 1))
    #expect(journal.currentMembers.count == 1)
    try journal.end()
    let after = try Journal(store: store)
    #expect(Ledger(after).currentState.total == 106)
    try after.end()
  }

  @Test func `Many reactors are recovered together though one of them replaces another`() async throws {
    let journal = try Journal(store: store)
    let other = Ledger(journal, entry: "ledger/2")
    let ledgers = [try await replaceLedger(journal), other]
    let recovery = Threads.start { try? journal.recover(ledgers) }
    try await Task.sleep(for: .milliseconds(20))
    #expect(ledgers[0].member.bound == nil)
    store.release()
    #expect(recovery.wait())
    #expect(ledgers.map(\.currentState.total) == [105, 0])
    try journal.end()
  }

  @Test(arguments: [false, true])
  func `A reactor is replaced again and again right after what it has confirmed`(onLoop: Bool) async throws {
    let loop = try Loop()
    let placement: Placement = onLoop ? .loop(loop) : .caller
    let journal = try Journal(store: store)
    var ledger: Ledger? = Ledger(journal, on: placement)
    for round in 1...300 {
      try await ledger?.sendDurably(.deposit(account: 1, amount: 1))
      if round % 3 == 0 {
        ledger?.close()
        await ledger?.waitUntilEnded()
      }
      if round % 2 == 0 { ledger = nil }
      ledger = Ledger(journal, on: placement)
      #expect(journal.currentMembers.count <= 3)
    }
    #expect(ledger?.currentState.total == 300)
    #expect(journal.currentMembers.count == 1)
    try Shutdown.close([journal, loop], before: .now + .seconds(30))
  }

  @Test func `A journal that ends writes what a replaced reactor has handed over`() async throws {
    let journal = try Journal(store: store)
    // It is never used.
    let next = try await replaceLedger(journal)
    let closing = Threads.start { try? journal.end() }
    // Not suspended: the deadline of the end could come before a thread of the pool is free again.
    usleep(20_000)
    store.release()
    #expect(closing.wait())
    #expect(store.batches.count == 2)
    #expect(journal.currentMembers.isEmpty)
    withExtendedLifetime(next) {}
  }

  @Test func `A commit of a replaced reactor that fails is told to both`() async throws {
    let error = JournalError.failed(code: 5, message: "input/output error")
    let journal = try Journal(store: store)
    let replies = Record<AskError?>()
    let entry = journal.entry("ledger/1")
    do {
      let ledger = Ledger(at: entry)
      try await ledger.sendDurably(.deposit(account: 1, amount: 100))
      store.hold()
      store.failNextCommit(error)
      let commits = store.commitCount
      ledger.send(.deposit(account: 1, amount: 5))
      while store.commitCount == commits { await Task.yield() }
      ledger.ask(
        { .depositAndReply(account: 1, amount: 1, $0) },
        completion: { result in
          if case .failure(let error) = result { replies.append(error) } else { replies.append(nil) }
        })
    }
    let next = Ledger(at: entry)
    let reasons = Record<JournalError?>()
    let recovery = Threads.start {
      do throws(JournalError) {
        try next.recover()
        reasons.append(nil)
      } catch {
        reasons.append(error)
      }
    }
    store.release()
    #expect(recovery.wait())
    #expect(reasons.elements == [error])
    #expect(replies.elements.count == 1 && replies.elements.allSatisfy { $0 != nil })
    try journal.end()
  }

  /// The suspended sends retain the earlier reactors, and need the threads of the pool to end.
  @Test func `A send to a reactor that replaces another one blocks no thread of the pool`() async {
    await #expect(processExitsWith: .success) {
      let store = InMemoryStore()
      let journal = try Journal(store: store)
      let entries = (0..<4 * DedicatedThread.processorCount).map { journal.entry("ledger/\($0)") }
      var ledgers = entries.map { Ledger(at: $0) }
      try journal.recover(ledgers)
      store.hold()
      await withTaskGroup(of: Void.self) { group in
        for ledger in ledgers {
          group.addTask { try? await ledger.sendDurably(.deposit(account: 1, amount: 1)) }
        }
        while ledgers.contains(where: { $0.member.isIdle }) { await Task.yield() }
        ledgers = []
        for entry in entries {
          group.addTask {
            let next = Ledger(at: entry)
            try? await next.sendDurably(.deposit(account: 1, amount: 1))
            if next.currentState.total != 2 { fatalError("a send is missing") }
          }
        }
        _ = DedicatedThread(named: "disk") {
          usleep(300_000)
          store.release()
        }
      }
      try journal.end()
    }
  }

  /// A process that was stopped, or a machine that is busy, says nothing of the reactor that stays.
  @Test func `The time does not count in which the waiting thread did not run`() async throws {
    var patience = Journal.Patience()
    try await Task.sleep(for: .milliseconds(5100))
    let isOver = patience.isOver(waitsForDisk: false)
    #expect(!isOver)
  }

  @Test func `A reactor may be used though the next one with its entry was made, which then waits for it`()
    async throws
  {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    var first: Ledger? = Ledger(at: entry)
    let second = Ledger(at: entry)
    try await first?.sendDurably(.deposit(account: 1, amount: 1))
    let totals = Record<Int64>()
    let use = Threads.start { totals.append(second.currentState.total) }
    // Not suspended: the five seconds could be over before a thread of the pool is free again.
    usleep(20_000)
    #expect(totals.elements == [])
    first = nil
    #expect(use.wait())
    #expect(totals.elements == [1])
    try await second.sendDurably(.deposit(account: 1, amount: 2))
    try journal.end()
    let after = try Journal(store: store)
    #expect(Ledger(at: after.entry("ledger/1")).currentState.total == 3)
    try after.end()
  }

  @Test func `The reactor that is used first has the entry, whichever was made first`() async throws {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    let first = Ledger(at: entry)
    var second: Ledger? = Ledger(at: entry)
    try await second?.sendDurably(.deposit(account: 1, amount: 1))
    let use = Threads.start { try? first.recover() }
    usleep(20_000)
    #expect(first.member.bound == nil)
    second = nil
    #expect(use.wait())
    try await first.sendDurably(.deposit(account: 1, amount: 1))
    #expect(first.currentState.total == 2)
    try journal.end()
  }

  @Test func `A reactor that waits for an earlier one may be replaced itself, and still be used`()
    async throws
  {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    var first: Ledger? = Ledger(at: entry)
    try await first?.sendDurably(.deposit(account: 1, amount: 1))
    let (second, third) = (Ledger(at: entry), Ledger(at: entry))
    let use = Threads.start { second.send(.deposit(account: 1, amount: 1)) }
    #expect(Threads.yield { second.member.isStarting })
    first = nil
    #expect(use.wait())
    #expect(await eventually { second.currentState.total == 2 })
    #expect(third.member.bound == nil)
    try journal.end()
  }

  /// Reading a long log takes longer than a reactor may stay.
  @Test func `A reactor that starts is waited for however long that takes`() async throws {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    var first: Ledger? = Ledger(at: entry)
    first.map { $0.member.beginStarting($0) }
    let next = Ledger(at: entry)
    let use = Threads.start { try? next.recover() }
    try await Task.sleep(for: .milliseconds(5500))
    #expect(next.member.bound == nil)
    first?.member.endStarting()
    first = nil
    #expect(use.wait())
    #expect(next.member.bound != nil)
    try journal.end()
  }

  @Test func `Tasks may use the reactors of a few entries while others remove them`() async throws {
    let journal = try Journal(store: store)
    let reactors = SystemMutex<[Int: Ledger]>([:])
    let entries = (0..<2).map { journal.entry("ledger/\($0)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<100 {
            let number = (task + round) % 2
            let ledger = reactors.withLock { reactors in
              let ledger = reactors[number] ?? Ledger(at: entries[number])
              reactors[number] = ledger
              return ledger
            }
            try await ledger.sendDurably(.deposit(account: 1, amount: 1))
            if round % 4 == task % 4 {
              let removed = reactors.withLock { $0.removeValue(forKey: number) }
              withExtendedLifetime(removed) {}
            }
          }
        }
      }
      try await group.waitForAll()
    }
    reactors.withLock { $0 = [:] }
    let total = entries.reduce(0) { $0 + Ledger(at: $1).currentState.total }
    #expect(total == 800)
    try journal.end()
  }

  @Test func `A reactor whose entry another one keeps fails, and is served when that is gone`() async throws {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    let late = Ledger(at: entry)
    var user: Ledger? = Ledger(at: entry)
    try await user?.sendDurably(.deposit(account: 1, amount: 1))
    await #expect(throws: DurabilityError.notWritten(.inUse(entry: "ledger/1"))) {
      try await late.sendDurably(.deposit(account: 1, amount: 1))
    }
    // The one that has failed is waited for by nobody.
    try await user?.sendDurably(.deposit(account: 1, amount: 1))
    user = nil
    let next = Ledger(at: entry)
    try await next.sendDurably(.deposit(account: 1, amount: 1))
    #expect(next.currentState.total == 3)
    #expect(journal.currentMembers.count == 1)
    withExtendedLifetime(late) {}
    try journal.end()
  }

  @Test func `What waits for a reactor that fails to start waits for the one before that`() async throws {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    var user: Ledger? = Ledger(at: entry)
    try await user?.sendDurably(.deposit(account: 1, amount: 1))
    let (failing, last) = (Ledger(at: entry), Ledger(at: entry))
    failing.member.beginStarting(failing)
    let totals = Record<Int64>()
    let use = Threads.start { totals.append(last.currentState.total) }
    #expect(Threads.yield { last.member.isStarting })
    failing.member.endStarting()
    usleep(20_000)
    #expect(totals.elements == [])
    user = nil
    #expect(use.wait())
    #expect(totals.elements == [1])
    withExtendedLifetime(failing) {}
    try journal.end()
  }

  /// Otherwise the third would wait three times as long as the first until it fails.
  @Test func `Reactors that stand in line wait for the one that has the entry`() async throws {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    let user = Ledger(at: entry)
    try await user.sendDurably(.deposit(account: 1, amount: 1))
    let late = (0..<3).map { _ in Ledger(at: entry) }
    for ledger in late { ledger.member.beginStarting(ledger) }
    #expect(late.allSatisfy { $0.member.firstInLine === user.member })
    late[1].member.endStarting()
    #expect(late.allSatisfy { $0.member.firstInLine === ($0 === late[1] ? late[1] : user).member })
    #expect(late[2].member.predecessor.withLock { $0 } === late[0].member)
    late[2].member.endStarting()
    late[0].member.endStarting()
    #expect(journal.currentMembers.map(ObjectIdentifier.init) == [ObjectIdentifier(user.member)])
    try journal.end()
  }

  @Test func `A reactor that waits for another one finds that the journal has ended`() async throws {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    let (first, second) = (Ledger(at: entry), Ledger(at: entry))
    // It begins to start, and stays.
    first.member.beginStarting(first)
    let errors = Record<JournalError?>()
    let use = Threads.start {
      do throws(JournalError) {
        try second.recover()
        errors.append(nil)
      } catch {
        errors.append(error)
      }
    }
    #expect(Threads.yield { second.member.isStarting })
    try journal.end()
    #expect(use.wait())
    #expect(errors.elements == [.fenced])
    first.member.endStarting()
  }

  @Test func `Two reactors of one entry are not recovered together`() throws {
    let journal = try Journal(store: store)
    let entry = journal.entry("ledger/1")
    let (one, other) = (Ledger(at: entry), Ledger(at: entry))
    #expect(throws: JournalError.inUse(entry: "ledger/1")) { try journal.recover([one, other]) }
    try journal.recover([one, one])
    #expect(one.currentState.total == 0)
    try journal.end()
  }

  @Test func `Threads that recover several reactors of the same entries do not wait for each other`()
    async throws
  {
    let journal = try Journal(store: store)
    let entries = (0..<2).map { journal.entry("ledger/\($0)") }
    let haveRecovered = Threads.run(2) { thread in
      for _ in 0..<200 {
        let ledgers = (thread == 0 ? entries : entries.reversed()).map { Ledger(at: $0) }
        try? journal.recover(ledgers)
        #expect(ledgers.allSatisfy { $0.member.bound != nil })
      }
    }
    #expect(haveRecovered)
    try journal.end()
  }

  @Test func `Two reactors with one entry stop the program when the second one starts`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let journal = try Journal(store: InMemoryStore())
      let first = Ledger(journal)
      try first.recover()
      let second = Ledger(journal)
      _ = second.currentState
      withExtendedLifetime(first) {}
    }
    #expect(stop?.standardErrorContent.says("two reactors use the entry") == true)
  }
}
