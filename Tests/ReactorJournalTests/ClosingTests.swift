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
    let deadline = ContinuousClock.now + .seconds(patience)
    while record.elements.isEmpty, .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
    return !record.elements.isEmpty
  }

  /// A journal, what opens when it is about to close its store, and what lets it do that.
  private func journalThatWaitsWhileItCloses() throws(JournalError) -> (
    journal: Journal, isClosing: Gate, mayClose: Gate
  ) {
    let (isClosing, mayClose) = (Gate(), Gate())
    let journal = try Journal(
      store: InterceptedStore(
        store,
        beforeClosing: {
          isClosing.open()
          _ = mayClose.wait()
        }))
    return (journal, isClosing, mayClose)
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
    let deadline = ContinuousClock.now + .seconds(patience)
    while freedLedger != nil || freedJournal != nil, .now < deadline { await Task.yield() }
    #expect(freedLedger == nil)
    #expect(freedJournal == nil)
  }

  /// A program that goes on makes reactors as before, with entries that were used and with others. Each would keep the journal.
  @Test(arguments: [false, true]) func `A reactor that is made after its journal was closed does not keep it`(
    isUsed: Bool
  ) async throws {
    weak var freedJournal: Journal?
    do {
      let journal = try Journal(store: store)
      freedJournal = journal
      try await Ledger(journal).sendDurably(.deposit(account: 1, amount: 1))
      try journal.end()
      for number in 1...3 {
        let ledger = Ledger(journal, entry: "ledger/\(number)")
        if isUsed {
          ledger.send(.deposit(account: 1, amount: 1))
          #expect(ledger.isClosed)
        }
      }
      #expect(journal.currentMembers.isEmpty)
    }
    let deadline = ContinuousClock.now + .seconds(patience)
    while freedJournal != nil, .now < deadline { await Task.yield() }
    #expect(freedJournal == nil)
  }

  /// The first use finds the journal closed, or waits until it is.
  @Test(arguments: [false, true], [false, true])
  func `What is sent to a reactor that was never used before its journal closed is refused`(
    onLoop: Bool, isClosed: Bool
  ) async throws {
    let loop = try Loop()
    let (journal, isClosing, mayClose) = try journalThatWaitsWhileItCloses()
    let refused = Record<Failure.Cause>()
    let ledgers = (1...3).map { number in
      Ledger(journal, entry: "ledger/\(number)", on: onLoop ? .loop(loop) : .caller) { failure in
        refused.append(failure.cause)
      }
    }
    let closing = Threads.start { try? journal.end() }
    #expect(isClosing.wait())
    if isClosed {
      mayClose.open()
      #expect(closing.wait())
    }
    let replies = Record<Record<AskError?>>()
    let using = Threads.start {
      replies.append(deposit(in: ledgers[0]))
      ledgers[1].send(.deposit(account: 1, amount: 1))
      ledgers[2].close()
    }
    // So that the first use waits for the store.
    try await Task.sleep(for: .milliseconds(20))
    mayClose.open()
    #expect(using.wait() && closing.wait())
    let reply = try #require(replies.elements.first)
    #expect(try await isRecorded(reply))
    // Of the request as well as of the send.
    #expect(Threads.yield(seconds: 20) { refused.elements.count == 2 })
    if case .closed? = reply.elements[0] {} else { Issue.record("\(reply.elements)") }
    for ledger in ledgers {
      #expect(ledger.isClosed)
      #expect(ledger.waitUntilEnded(before: .now + .seconds(20)))
    }
    #expect(throws: SendError.closed) { try ledgers[1].trySend(.deposit(account: 1, amount: 1)) }
    await #expect(throws: DurabilityError.notWritten(.fenced)) {
      try await ledgers[1].sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(throws: JournalError.fenced) { try ledgers[1].recover() }
    #expect(store.batches.isEmpty)
    try loop.shutdown(before: .now + .seconds(20))
  }

  /// The journal waits for the commit of another one meanwhile. Before or after it was told to end.
  @Test(arguments: [false, true])
  func `A reactor that is first used while its journal closes is closed, and nothing of it is written`(
    mustStop: Bool
  ) throws {
    let journal = try Journal(store: store)
    let refused = Record<Failure.Cause>()
    let busy = Ledger(journal)
    let late = Ledger(journal, entry: "ledger/2", onFailure: { refused.append($0.cause) })
    // Not started. To recover it later would wait for the commit.
    try late.member.ensureRecovered(late, retries: true, nil)
    store.hold()
    defer { store.release() }
    busy.send(.deposit(account: 1, amount: 1))
    #expect(Threads.yield { store.commitCount == 1 })
    journal.beginClosing()
    let unfinished = Record<[Unfinished]>()
    let finish = { @Sendable in unfinished.append(journal.finishClosing(before: .now + .seconds(20))) }
    if mustStop {
      let closing = Threads.start(finish)
      #expect(Threads.yield { journal.work.withLock { $0.mustStop } })
      late.send(.deposit(account: 1, amount: 1))
      store.release()
      #expect(closing.wait())
    } else {
      late.send(.deposit(account: 1, amount: 1))
      store.release()
      finish()
    }
    #expect(unfinished.elements == [[]])
    #expect(late.isClosed)
    #expect(late.waitUntilEnded(before: .now + .seconds(20)))
    #expect(Threads.yield(seconds: 20) { refused.elements.count == 1 })
    #expect(late.latestState.changes == 0)
    #expect(store.batches.count == 1)
  }

  @Test(arguments: [0, 1, 2])
  func `To read the state of a reactor whose journal was closed before its first use stops the program`(
    _ way: Int
  ) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [way = way as Int] in
      let journal = try Journal(store: InMemoryStore())
      let ledger = Ledger(journal, visibility: way == 2 ? .latest : .durable)
      try journal.end()
      ledger.send(.deposit(account: 1, amount: 1))
      _ = way == 1 ? ledger.latestState : ledger.currentState
    }
    let errors = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(errors.contains(#"The reactor "ledger/1" has no state"#), "\(errors)")
  }

  /// A loop that was shut down runs nothing at the end of a reactor: the thread that closes it does.
  @Test func `A reply at the end of a reactor waits for the disk though its loop has ended`() async throws {
    let loop = try Loop()
    let journal = try Journal(store: store)
    let reactor = LastWord(journal, on: .loop(loop))
    try await reactor.sendDurably(.add(100))
    store.hold()
    defer { store.release() }
    let commits = store.commitCount
    reactor.send(.add(5))
    #expect(Threads.yield(seconds: 20) { store.commitCount > commits })
    let replies = Record<Int64?>()
    reactor.ask({ .wait($0) }, completion: { replies.append(try? $0.get()) })
    try loop.shutdown(before: .now + .seconds(20))
    #expect(reactor.waiting.elements.count == 1)
    journal.beginClosing()
    try await Task.sleep(for: .milliseconds(20))
    #expect(replies.elements == [])
    store.release()
    try journal.end()
    #expect(replies.elements == [105])
  }

  @Test func `What is handed over at the moment when a journal closes its store is refused`() async throws {
    try await write()
    let (journal, isClosing, mayClose) = try journalThatWaitsWhileItCloses()
    let ledger = Ledger(journal)
    // Recovered, but not started: so the end of the journal does not wait for it.
    try ledger.member.ensureRecovered(ledger, retries: true, nil)
    // Not begun to close, since a reactor that is started then hands over nothing.
    let closing = Threads.start { _ = journal.finishClosing(before: .now + .seconds(30)) }
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

/// A reactor that keeps replies until it ends.
private final class LastWord: DurableReactor, EndObserving {
  enum Action: Sendable {
    case add(Int64)
    case wait(Reply<Int64>)
  }
  typealias Mutation = Ledger.Mutation
  typealias State = Ledger.State

  static let schema = Schema("last word")
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>
  let waiting = Record<Reply<Int64>>()

  init(_ journal: Journal, on placement: Placement) {
    runtime = Runtime(on: placement, journal: journal.entry("last word"))
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .add(let amount): return .just(.added(account: 1, amount: amount))
    case .wait(let reply):
      waiting.append(reply)
      return .empty()
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    guard case .added(let account, let amount) = mutation else { return }
    state.balances[account, default: 0] += amount
  }

  func willEnd(_ state: borrowing State) { for reply in waiting.elements { reply(state.total) } }
}
