import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// What is seen outside of a reactor while the disk holds back a commit: nothing that the commit contains.
@Suite struct VisibilityTests {
  private let store = InMemoryStore()

  /// Starts a ledger with one durable deposit, and holds the next commit back.
  private func makeHeldLedger(
    _ visibility: Visibility = .durable, on placement: Placement = .caller
  ) async throws -> (Journal, Ledger) {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal, on: placement, visibility: visibility)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    store.hold()
    return (journal, ledger)
  }

  /// A thread that reads a state with one place cannot become its owner at once.
  @Test func `An observer that comes inside of a read gets that state when the read has ended`() async throws
  {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal, on: .caller)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    let states = SystemMutex<[Int64]>([])
    let subscription = ledger.withCurrentState { _ in
      ledger.state.subscribe(onNext: { state in states.withLock { $0.append(state.total) } })
    }
    #expect(states.withLock { $0 } == [100])
    subscription.dispose()
    try Shutdown.close([journal], before: .now + .seconds(60))
  }

  /// Waits until a commit has begun that contains what was sent.
  private func awaitCommit(after count: Int) async {
    while store.commitCount == count { await Task.yield() }
  }

  @Test(arguments: [false, true])
  func `Nothing is seen before the commit returns`(onLoop: Bool) async throws {
    let loop = try Loop()
    let (journal, ledger) = try await makeHeldLedger(on: onLoop ? .loop(loop) : .caller)
    let states = SystemMutex<[Int64]>([])
    let effects = Atomic(0)
    let replies = SystemMutex<[Int64]>([])
    let subscription = ledger.state.subscribe(onNext: { state in states.withLock { $0.append(state.total) } })
    let commits = store.commitCount
    ledger.send(.deposit(account: 1, amount: 5))
    await awaitCommit(after: commits)
    ledger.send(.notify(account: 1, amount: 6) { effects.add(1, ordering: .relaxed) })
    let note = { @Sendable (result: Result<Int64, AskError>) in
      replies.withLock { $0.append((try? result.get()) ?? -1) }
    }
    ledger.ask({ .depositAndReply(account: 1, amount: 7, $0) }, completion: note)
    ledger.ask({ .balance(account: 1, $0) }, completion: note)
    let waiting = Task { try await ledger.sendDurably(.deposit(account: 1, amount: 8)) }
    while ledger.latestState.total != 126 { await Task.yield() }

    func readGenerically<R: Reactor>(_ reactor: R) -> R.State { reactor.currentState }
    #expect(ledger.currentState.total == 100)
    #expect(readGenerically(ledger).total == 100)
    #expect(ledger.withCurrentState { $0.total } == 100)
    #expect(ledger.durableState.total == 100)
    #expect(ledger.durablePosition == 1)
    #expect(states.withLock { $0 } == [100])
    #expect(replies.withLock { $0 } == [])
    #expect(effects.load(ordering: .relaxed) == 0)

    store.release()
    try await waiting.value
    #expect(ledger.currentState.total == 126)
    #expect(states.withLock { $0 } == [100, 105, 111, 118, 126])
    #expect(replies.withLock { $0 } == [118, 118])
    #expect(effects.load(ordering: .relaxed) == 1)
    subscription.dispose()
    try Shutdown.close([journal, loop], before: .now + .seconds(30))
  }

  @Test func `The latest state is seen at once where that is asked for`() async throws {
    let (journal, ledger) = try await makeHeldLedger(.latest)
    let effects = Atomic(0)
    ledger.send(.notify(account: 1, amount: 5) { effects.add(1, ordering: .relaxed) })
    #expect(ledger.currentState.total == 105)
    #expect(try await ledger.ask { .balance(account: 1, $0) } == 105)
    #expect(try await ledger.ask { .depositAndReply(account: 1, amount: 1, $0) } == 106)
    #expect(ledger.durableState.total == 100)
    #expect(effects.load(ordering: .relaxed) == 0)
    store.release()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(ledger.durableState.total == 107)
    #expect(effects.load(ordering: .relaxed) == 1)
    try journal.end()
  }

  @Test(arguments: [Visibility.durable, .latest])
  func `The observers of the state are completed behind the last one when a transform has ended`(
    _ visibility: Visibility
  ) async throws {
    let journal = try Journal(store: store)
    let reactor = FiniteReactor(journal, visibility)
    func observe() -> (Record<String>, any Disposable) {
      let events = Record<String>()
      let subscription = reactor.state.subscribe(
        onNext: { events.append("\($0.changes)") }, onCompleted: { events.append("completed") })
      return (events, subscription)
    }
    let (events, subscription) = observe()
    store.hold()
    reactor.send(.added(account: 1, amount: 1))
    await awaitCommit(after: 0)
    #expect(events.elements == (visibility == .durable ? ["0"] : ["0", "1", "completed"]))
    store.release()
    await reactor.waitUntilEnded()
    #expect(events.elements == ["0", "1", "completed"])
    let (late, lateSubscription) = observe()
    #expect(late.elements == ["1", "completed"])
    for subscription in [subscription, lateSubscription] { subscription.dispose() }
    try journal.end()
  }

  @Test func `A reply finds its state readable`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    for round in 1...200 {
      let balance = try await ledger.ask { .depositAndReply(account: 1, amount: 1, $0) }
      #expect(balance == Int64(round))
      #expect(ledger.currentState.total >= balance)
    }
    try journal.end()
  }

  @Test func `Both mutations of an action are in one batch`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1_000_000))
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for _ in 0..<500 { ledger.send(.transfer(from: 1, to: UInt32(task + 2), amount: 1)) }
        }
      }
    }
    try journal.end()
    let batches = store.batches
    #expect(batches.count > 1)
    for count in batches.indices {
      let journal = try Journal(store: store.prefix(count + 1))
      #expect(Ledger(journal).currentState.total == 1_000_000)
      try journal.end()
    }
  }

  /// The state has a collection, which the default policy does not copy.
  @Test(arguments: [SnapshotPolicy.copied, .replayed])
  func `A reader does not hold the journal up if the policy of the reactor says that readers never wait`(
    _ policy: SnapshotPolicy
  ) async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal, snapshots: policy)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    let (isReading, mayEnd) = (Gate(), Gate())
    let totals = Record<Int64>()
    let reading = Threads.start {
      ledger.withCurrentState { state in
        isReading.open()
        _ = mayEnd.wait()
        totals.append(state.total)
      }
    }
    #expect(isReading.wait())
    let isDurable = Atomic(false)
    let sending = Task {
      try await ledger.sendDurably(.deposit(account: 1, amount: 5))
      isDurable.store(true, ordering: .releasing)
    }
    let deadline = ContinuousClock.now + .seconds(patience)
    while !isDurable.load(ordering: .acquiring), .now < deadline {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(isDurable.load(ordering: .acquiring) == true)
    if isDurable.load(ordering: .acquiring) { #expect(ledger.currentState.total == 105) }
    mayEnd.open()
    #expect(reading.wait())
    try await sending.value
    #expect(totals.elements == [100])
    try journal.end()
  }
}
