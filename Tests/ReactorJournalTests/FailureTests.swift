import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// What a reactor, its senders and its observers meet when the store fails.
@Suite struct FailureTests {
  private let store = InMemoryStore()
  private let ioError = JournalError.failed(code: 5, message: "input/output error")

  @Test(arguments: [false, true])
  func `An error ends the journal, and what was sent has an unknown outcome`(writes: Bool) async throws {
    let failures = SystemMutex<[JournalError]>([])
    var configuration = JournalConfiguration()
    configuration.onFailure = { error in failures.withLock { $0.append(error) } }
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.failNextCommit(ioError, butWrites: writes)
    await #expect(throws: DurabilityError.unknownOutcome(ioError)) {
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    await #expect(throws: DurabilityError.notWritten(ioError)) {
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(ledger.isClosed)
    #expect(ledger.currentState.total == 100)
    #expect(journal.failure == ioError)
    // No operation is repeated after an error, and nothing is written after it.
    #expect(store.commitCount == 2)
    #expect(failures.withLock { $0 } == [ioError])
    try journal.end()

    let next = try Journal(store: store)
    #expect(Ledger(next).currentState.total == (writes ? 101 : 100))
    try next.end()
  }

  @Test func `A durable send to a reactor that cannot be started says why`() async throws {
    let journal = try Journal(store: store)
    let (ledger, other) = (Ledger(journal), Ledger(journal, entry: "ledger/2"))
    try journal.end()
    await #expect(throws: DurabilityError.notWritten(.fenced)) {
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    // An earlier one may be written.
    await #expect(throws: DurabilityError.unknownOutcome(.fenced)) {
      try await other.sendDurably(.deposit(account: 1, amount: 1), id: 1)
    }
  }

  @Test func `A log that cannot be read is not read again for each durable send`() async throws {
    let first = try Journal(store: store)
    let writer = Ledger(first)
    for _ in 0..<2 { try await writer.sendDurably(.deposit(account: 1, amount: 1)) }
    try first.end()
    store.batches[1].bytes = [1, 2, 3]
    let reads = Atomic(0)
    let journal = try Journal(
      store: InterceptedStore(store, beforeReading: { reads.add(1, ordering: .relaxed) }))
    let ledger = Ledger(journal)
    for _ in 0..<3 {
      await #expect(throws: DurabilityError.notWritten(.malformed(position: 2))) {
        try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      }
    }
    #expect(reads.load(ordering: .relaxed) == 1)
    // That is asked for.
    #expect(throws: JournalError.malformed(position: 2)) { try ledger.recover() }
    #expect(reads.load(ordering: .relaxed) == 2)
    try journal.end()
  }

  @Test func `What waits behind a failed commit is not written, and replies fail`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.hold()
    store.failNextCommit(ioError)
    let effects = Atomic(0)
    let commits = store.commitCount
    let tried = Task { try await ledger.ask { .depositAndReply(account: 1, amount: 1, $0) } }
    while store.commitCount == commits { await Task.yield() }
    ledger.send(.notify(account: 1, amount: 1) { effects.add(1, ordering: .relaxed) })
    let later = Task { try await ledger.sendDurably(.deposit(account: 1, amount: 1)) }
    while ledger.latestState.changes != 4 { await Task.yield() }
    store.release()
    await #expect(throws: DurabilityError.notWritten(ioError)) { try await later.value }
    do {
      _ = try await tried.value
      Issue.record("the reply was given though its state is not durable")
    } catch AskError.failed(let error) {
      #expect(error as? DurabilityError == .unknownOutcome(ioError))
    }
    #expect(effects.load(ordering: .relaxed) == 0)
    try journal.end()
  }

  @Test func `A reactor that begins after its journal has failed is closed, and does nothing`() async throws {
    let failed = Gate()
    var configuration = JournalConfiguration()
    configuration.onFailure = { _ in failed.open() }
    let journal = try Journal(store: store, configuration: configuration)
    let (isStarting, mayStart) = (Gate(), Gate())
    let refused = Record<Failure.Cause>()
    let (first, late) = (Ledger(journal), LateReactor(journal, isStarting, mayStart, refused))
    // Both are recovered, and started one after the other.
    let recovery = Threads.start { try? journal.recover([first, late]) }
    #expect(isStarting.wait())
    store.failNextCommit(ioError)
    first.send(.deposit(account: 1, amount: 1))
    #expect(failed.wait())
    mayStart.open()
    #expect(recovery.wait())
    late.send(.added(account: 1, amount: 1))
    #expect(Threads.yield(seconds: 20) { late.isClosed && !refused.elements.isEmpty })
    #expect(refused.elements.count == 1)
    #expect(late.latestState.changes == 0)
    #expect(late.waitUntilEnded(before: .now + .seconds(20)))
    try journal.end()
    #expect(store.batches.isEmpty)
  }

  @Test func `A reactor that begins after its journal was closed is closed, and does nothing`() throws {
    let journal = try Journal(store: store)
    let (isStarting, mayStart) = (Gate(), Gate())
    let refused = Record<Failure.Cause>()
    let late = LateReactor(journal, isStarting, mayStart, refused)
    let recovery = Threads.start { try? journal.recover([late]) }
    #expect(isStarting.wait())
    try journal.end()
    mayStart.open()
    #expect(recovery.wait())
    #expect(Threads.yield(seconds: 20) { late.isClosed })
    late.send(.added(account: 1, amount: 1))
    #expect(Threads.yield(seconds: 20) { !refused.elements.isEmpty })
    #expect(late.latestState.changes == 0)
    #expect(late.waitUntilEnded(before: .now + .seconds(20)))
    #expect(store.batches.isEmpty)
  }

  @Test func `No reply tells of what a failed commit has lost`() async throws {
    let journal = try Journal(store: store)
    let (first, second) = (Ledger(journal), Ledger(journal, entry: "ledger/2"))
    let trigger = Ledger(journal, entry: "trigger")
    try await first.sendDurably(.deposit(account: 1, amount: 100))
    try second.recover()
    let balances = SystemMutex<[Int64?]>([])
    // On the journal's thread, so that both reactors are in the next commit. When the second one's reply fails, the first one
    // is asked.
    trigger.send(
      .notify(account: 1, amount: 1) { [store, ioError] in
        store.failNextCommit(ioError)
        first.send(.deposit(account: 1, amount: 1))
        second.ask(
          { .depositAndReply(account: 1, amount: 1, $0) },
          completion: { _ in
            first.ask(
              { .balance(account: 1, $0) },
              completion: { result in balances.withLock { $0.append(try? result.get()) } })
          })
      })
    while balances.withLock({ $0.isEmpty }) { await Task.yield() }
    #expect(balances.withLock { $0 } == [nil])
    try journal.end()
  }

  @Test func `A full disk holds everything back until there is room`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.capacity = store.byteCount
    let waiting = Task { try await ledger.sendDurably(.deposit(account: 1, amount: 1)) }
    let commits = store.commitCount
    while store.commitCount < commits + 3 { await Task.yield() }
    #expect(ledger.currentState.total == 100)
    store.capacity = .max
    try await waiting.value
    #expect(ledger.currentState.total == 101)
    #expect(journal.failure == nil)
    try journal.end()
  }

  @Test func `Compacting on a full disk or after the end is refused, and ends nothing`() async throws {
    let full = InterceptedStore(store, beforeRemoving: { () throws(JournalError) in throw .diskFull })
    let journal = try Journal(store: full)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(try await journal.compact() == 0)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    await #expect(throws: JournalError.diskFull) { try await journal.compact() }
    #expect(journal.failure == nil)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    try journal.end()
    await #expect(throws: JournalError.fenced) { try await journal.compact() }
    #expect(journal.failure == nil)
  }

  @Test(arguments: [0, 50]) func `A disk that stays full ends the journal, and nothing is written`(
    milliseconds: Int
  ) async throws {
    var configuration = JournalConfiguration()
    configuration.diskFullLimit = .milliseconds(milliseconds)
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.capacity = store.byteCount
    await #expect(throws: DurabilityError.notWritten(.diskFull)) {
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    // Not repeated at all, if there is no time for it.
    #expect(milliseconds > 0 ? store.commitCount > 2 : store.commitCount == 2)
    try journal.end()
  }

  @Test func `The time that a commit took before the disk was full does not count`() async throws {
    var configuration = JournalConfiguration()
    configuration.diskFullLimit = .milliseconds(50)
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.hold()
    store.failNextCommit(.diskFull)
    ledger.send(.deposit(account: 1, amount: 2))
    while store.commitCount < 2 { await Task.yield() }
    try await Task.sleep(for: .milliseconds(100))
    store.release()
    try await ledger.sendDurably(.deposit(account: 1, amount: 3))
    #expect(journal.failure == nil)
    #expect(ledger.currentState.changes == 3)
    try journal.end()
  }

  @Test func `A failure ends a reactor that waits for room`() async throws {
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 1024
    let journal = try Journal(store: store, configuration: configuration)
    let lost = Atomic(0)
    let ledger = Ledger(journal, capacity: 16) { _ in lost.add(1, ordering: .relaxed) }
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.hold()
    store.failNextCommit(ioError)
    let sender = Threads.start { for _ in 0..<5000 { ledger.send(.deposit(account: 1, amount: 1)) } }
    while store.commitCount < 2 { await Task.yield() }
    try await Task.sleep(for: .milliseconds(20))
    store.release()
    #expect(sender.wait())
    #expect(ledger.waitUntilEnded(before: .now + .seconds(30)))
    #expect(lost.load(ordering: .relaxed) + ledger.latestState.changes == 5001)
    #expect(ledger.currentState.changes == 1)
    try journal.end()
  }

  @Test func `A repeated request is never said not to be written if it may have been`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100), id: 6)
    store.hold()
    store.failNextCommit(ioError, butWrites: true)
    let commits = store.commitCount
    let first = Task { try await ledger.sendDurably(.deposit(account: 1, amount: 1), id: 7) }
    while store.commitCount == commits { await Task.yield() }
    let again = Task { try await ledger.sendDurably(.deposit(account: 1, amount: 1), id: 7) }
    try await Task.sleep(for: .milliseconds(20))
    let other = Task { try await ledger.sendDurably(.deposit(account: 1, amount: 1), id: 8) }
    while ledger.latestState.changes != 3 { await Task.yield() }
    store.release()
    await #expect(throws: DurabilityError.unknownOutcome(ioError)) { try await first.value }
    await #expect(throws: DurabilityError.unknownOutcome(ioError)) { try await again.value }
    // The reactor had not seen it before.
    await #expect(throws: DurabilityError.notWritten(ioError)) { try await other.value }
    // Nobody looks whether it was processed before.
    await #expect(throws: DurabilityError.unknownOutcome(ioError)) {
      try await ledger.sendDurably(.deposit(account: 1, amount: 100), id: 6)
    }
    await #expect(throws: DurabilityError.notWritten(ioError)) {
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    try journal.end()
  }
}
