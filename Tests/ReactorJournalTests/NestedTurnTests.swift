import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// What becomes durable while a turn of another durable reactor runs the turns of its durable state.
@Suite struct NestedTurnTests {
  /// A reactor that runs code in a turn, and records that.
  private final class Outer: DurableReactor {
    typealias Action = @Sendable () -> Void
    typealias Mutation = Ledger.Mutation
    typealias State = Ledger.State

    static let schema = Schema("outer")
    let initialState = State()
    let runtime: Runtime<Action, Mutation, State>

    init(_ journal: Journal, _ visibility: Visibility, on placement: Placement) {
      runtime = Runtime(
        on: placement, journal: journal.entry("outer"), visibility: visibility, onFailure: { _ in })
    }

    func mutate(action: @escaping Action) -> Observable<Mutation> {
      action()
      return .just(.added(account: 1, amount: 1))
    }

    func reduce(into state: inout State, mutation: Mutation) { state.changes += 1 }
  }

  private let outerStore = InMemoryStore()
  private let innerStore = InMemoryStore()
  private let outcomes = Record<DurabilityError?>()
  private let effects = Record<Bool>()
  private let subscriptions = Record<any Disposable>()

  /// Sends a deposit with an effect.
  private func send(to ledger: Ledger) {
    Task { [outcomes, effects] in
      do throws(DurabilityError) {
        try await ledger.sendDurably(.notify(account: 1, amount: 5) { effects.append(true) })
        outcomes.append(nil)
      } catch {
        outcomes.append(error)
      }
    }
  }

  /// Sends durably to the ledger, and lets the records be committed while a turn of the other reactor is an observer of the durable
  /// state. So that turn applies them, and what waits for them comes to an end inside of it.
  private func sendDurably(to ledger: Ledger, aroundTurnOf outer: Outer) async throws {
    let position = ledger.durablePosition
    innerStore.hold()
    let commits = innerStore.commitCount
    send(to: ledger)
    while innerStore.commitCount == commits { await Task.yield() }
    let (isInside, mayLeave) = (Gate(), Gate())
    let turn = Threads.start { [subscriptions] in
      outer.send {
        subscriptions.append(
          ledger.state.subscribe(onNext: { _ in
            isInside.open()
            _ = mayLeave.wait()
          }))
      }
    }
    #expect(isInside.wait())
    innerStore.release()
    while ledger.durablePosition == position { await Task.yield() }
    // So that the records wait for the turn.
    try await Task.sleep(for: .milliseconds(20))
    mayLeave.open()
    #expect(turn.wait())
  }

  /// Waits until so many sends have an outcome; false if that takes longer than a test should wait.
  private func hasOutcomes(_ count: Int) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(patience)
    while outcomes.elements.count < count, .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
    return outcomes.elements.count == count
  }

  @Test(arguments: [Visibility.durable, .latest], [false, true])
  func `What is durable is confirmed though the turn around it cannot be written`(
    _ visibility: Visibility, onLoop: Bool
  ) async throws {
    let loop = try Loop()
    let error = JournalError.failed(code: 5, message: "input/output error")
    let (outerJournal, innerJournal) = (try Journal(store: outerStore), try Journal(store: innerStore))
    let ledger = Ledger(innerJournal)
    let outer = Outer(outerJournal, visibility, on: onLoop ? .loop(loop) : .caller)
    try outer.recover()
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    outerStore.failNextCommit(error)
    try await sendDurably(to: ledger, aroundTurnOf: outer)
    #expect(try await hasOutcomes(1))
    #expect(outcomes.elements == [nil])
    #expect(effects.elements.count == 1)
    #expect(ledger.currentState.total == 105)
    #expect(Threads.yield(seconds: 20) { outerJournal.failure != nil })
    for subscription in subscriptions.elements { subscription.dispose() }
    try Shutdown.close([outerJournal, innerJournal, loop], before: .now + .seconds(30))
  }

  @Test(arguments: [Visibility.durable, .latest], [false, true])
  func `What is durable does not wait for the disk of the turn around it`(
    _ visibility: Visibility, onLoop: Bool
  ) async throws {
    let loop = try Loop()
    let (outerJournal, innerJournal) = (try Journal(store: outerStore), try Journal(store: innerStore))
    let ledger = Ledger(innerJournal)
    let outer = Outer(outerJournal, visibility, on: onLoop ? .loop(loop) : .caller)
    try outer.recover()
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    outerStore.hold()
    defer { outerStore.release() }
    try await sendDurably(to: ledger, aroundTurnOf: outer)
    #expect(try await hasOutcomes(1))
    // Nor do later ones.
    send(to: ledger)
    #expect(try await hasOutcomes(2))
    #expect(outcomes.elements == [nil, nil])
    #expect(effects.elements.count == 2)
    outerStore.release()
    for subscription in subscriptions.elements { subscription.dispose() }
    try Shutdown.close([outerJournal, innerJournal, loop], before: .now + .seconds(30))
  }

  @Test func `A turn inside of which a reactor became durable can replace that reactor`() async throws {
    let (outerJournal, innerJournal) = (try Journal(store: outerStore), try Journal(store: innerStore))
    let outer = Outer(outerJournal, .latest, on: .caller)
    try outer.recover()
    let held = SystemMutex<Ledger?>(Ledger(innerJournal))
    try held.withLock { $0 }?.recover()
    let (isInside, mayLeave, totals) = (Gate(), Gate(), Record<Int64>())
    innerStore.hold()
    let commits = innerStore.commitCount
    held.withLock { $0 }?.send(.deposit(account: 1, amount: 5))
    while innerStore.commitCount == commits { await Task.yield() }
    let turn = Threads.start {
      outer.send {
        let subscription = held.withLock { $0 }?.state.subscribe(onNext: { _ in
          isInside.open()
          _ = mayLeave.wait()
        })
        subscription?.dispose()
        // The last reference. The next one waits until it is gone.
        do { _ = held.withLock { $0.take() } }
        let next = Ledger(innerJournal)
        try? next.recover()
        totals.append(next.currentState.total)
      }
    }
    #expect(isInside.wait())
    innerStore.release()
    // So that the records wait for the turn.
    try await Task.sleep(for: .milliseconds(100))
    mayLeave.open()
    #expect(turn.wait())
    #expect(totals.elements == [5])
    try Shutdown.close([outerJournal, innerJournal], before: .now + .seconds(30))
  }
}
