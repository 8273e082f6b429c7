import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

@testable import ReactorJournal

/// Reactors that are started while their journal closes: what is sent to them is answered, and nothing is left.
@Suite struct ClosingTests {
  private let store = InMemoryStore()

  private func write() async throws {
    let journal = try Journal(store: store)
    try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
    try journal.end()
  }

  /// Waits until something is recorded; false if that takes longer than a test should wait.
  private func isRecorded<Element>(_ record: Record<Element>) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(20)
    while record.elements.isEmpty, .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
    return !record.elements.isEmpty
  }

  /// Asks for a deposit. Returns what the reply failed with; nil for a value.
  private func deposit(in ledger: Ledger) -> Record<AskError?> {
    let replies = Record<AskError?>()
    ledger.ask(
      { .depositAndReply(account: 1, amount: 1, $0) },
      completion: { result in
        if case .failure(let error) = result { replies.append(error) } else { replies.append(nil) }
      })
    return replies
  }

  @Test func `What is sent to a reactor that was being recovered while its journal closed is refused`()
    async throws
  {
    try await write()
    let (isReading, mayRead) = (Gate(), Gate())
    weak var freedLedger: Ledger?
    weak var freedJournal: Journal?
    do {
      let journal = try Journal(
        store: InterceptedStore(
          store,
          beforeReading: {
            isReading.open()
            _ = mayRead.wait()
          }))
      let ledger = Ledger(journal)
      (freedLedger, freedJournal) = (ledger, journal)
      let recovery = Threads.start { try? ledger.recover() }
      #expect(isReading.wait())
      // The reactor has not started, so the end of the journal does not wait for it.
      let closing = Threads.start { try? journal.end() }
      #expect(Threads.yield { journal.work.withLock { $0.mustStop } })
      mayRead.open()
      #expect(recovery.wait() && closing.wait())

      let replies = deposit(in: ledger)
      #expect(try await isRecorded(replies))
      #expect(replies.elements.allSatisfy { $0 != nil })
      let errors = Record<DurabilityError?>()
      Task {
        do throws(DurabilityError) {
          try await ledger.sendDurably(.deposit(account: 1, amount: 1))
          errors.append(nil)
        } catch {
          errors.append(error)
        }
      }
      #expect(try await isRecorded(errors))
      let reasons: [DurabilityError?] = [.notWritten(.fenced), .refused(.closed)]
      #expect(errors.elements.allSatisfy(reasons.contains))
      #expect(Threads.yield(seconds: 20) { ledger.isClosed })
    }
    #expect(store.batches.count == 1)
    let deadline = ContinuousClock.now + .seconds(20)
    while freedLedger != nil || freedJournal != nil, .now < deadline { await Task.yield() }
    #expect(freedLedger == nil)
    #expect(freedJournal == nil)
  }

  @Test func `What is handed over at the moment when a journal closes its store is refused`() async throws {
    try await write()
    let (isClosing, mayClose) = (Gate(), Gate())
    let journal = try Journal(
      store: InterceptedStore(
        store,
        beforeClosing: {
          isClosing.open()
          _ = mayClose.wait()
        }))
    let ledger = Ledger(journal)
    // Recovered, but not started: so the end of the journal does not wait for it.
    try ledger.member.ensureRecovered(ledger, retries: true, nil)
    let closing = Threads.start { try? journal.end() }
    #expect(isClosing.wait())
    let replies = deposit(in: ledger)
    #expect(!ledger.member.isIdle)
    mayClose.open()
    #expect(closing.wait())
    #expect(try await isRecorded(replies))
    #expect(replies.elements.allSatisfy { $0 != nil })
    #expect(ledger.member.isIdle)
    #expect(Threads.yield(seconds: 20) { ledger.isClosed })
    #expect(store.batches.count == 1)
  }
}
