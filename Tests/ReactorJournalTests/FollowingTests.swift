import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// What senders are told when the durable state cannot follow what was written.
@Suite struct FollowingTests {
  private let store = InMemoryStore()
  private let failures = SystemMutex<[JournalError]>([])

  private func makeJournal() throws -> Journal {
    var configuration = JournalConfiguration()
    configuration.digestRecords = 1
    configuration.onFailure = { [failures] error in failures.withLock { $0.append(error) } }
    return try Journal(store: store, configuration: configuration)
  }

  /// A record that cannot be read, behind a good one of the same action; and a mutation that changes the two states differently.
  private static let faults: [(mutations: [Misfit.Mutation], error: JournalError)] = [
    ([.good, .unreadable], .malformed(position: 3)), ([.impure], .diverged(entry: "misfit", position: 2)),
  ]

  @Test(arguments: faults.indices, [Visibility.durable, .latest])
  func `A send whose records were written and cannot be applied has an unknown outcome`(
    _ fault: Int, _ visibility: Visibility
  ) async throws {
    let (mutations, error) = Self.faults[fault]
    let journal = try makeJournal()
    let reactor = Misfit(journal, visibility)
    let other = Ledger(journal)
    try other.recover()
    try await reactor.sendDurably(.apply([.good]))
    let effects = Atomic(0)
    await #expect(throws: DurabilityError.unknownOutcome(error)) {
      try await reactor.sendDurably(.apply(mutations) { effects.add(1, ordering: .relaxed) })
    }
    // It was written.
    #expect(store.batches.count == 2)
    await #expect(throws: DurabilityError.notWritten(error)) {
      try await reactor.sendDurably(.apply([.good]))
    }
    await #expect(throws: DurabilityError.notWritten(error)) {
      try await other.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(effects.load(ordering: .relaxed) == 0)
    #expect(reactor.isClosed && other.isClosed)
    #expect(journal.failure == error)
    #expect(failures.withLock { $0 } == [error])
    try journal.end()
    #expect(store.batches.count == 2)
    guard case .malformed = error else { return }
    let next = try makeJournal()
    #expect(throws: error) { try Misfit(next, visibility).recover() }
    try next.end()
  }

  @Test(arguments: faults.indices, [false, true])
  func `No reply tells of records that cannot be applied`(_ fault: Int, isObserved: Bool) async throws {
    let (mutations, error) = Self.faults[fault]
    let journal = try makeJournal()
    let reactor = Misfit(journal, .durable)
    try await reactor.sendDurably(.apply([.good]))
    let subscription = isObserved ? reactor.state.subscribe(onNext: { _ in }) : nil
    let (errors, values) = (SystemMutex<[DurabilityError?]>([]), SystemMutex<[Int?]>([]))
    reactor.ask(
      { .applyAndReply(mutations, $0) },
      completion: { result in
        if case .failure(.failed(let reason)) = result {
          errors.withLock { $0.append(reason as? DurabilityError) }
        } else {
          errors.withLock { $0.append(nil) }
        }
        // At once, when the reactor could reply again.
        reactor.ask(
          { .value($0) }, completion: { result in values.withLock { $0.append(try? result.get()) } })
      })
    while values.withLock({ $0.isEmpty }) { await Task.yield() }
    #expect(errors.withLock { $0 } == [.unknownOutcome(error)])
    #expect(values.withLock { $0 } == [nil])
    subscription?.dispose()
    try journal.end()
  }
}

/// A reactor whose durable state cannot follow some of its mutations.
final class Misfit: DurableReactor {
  enum Action: Sendable {
    case apply([Mutation], (@Sendable () -> Void)? = nil)
    case applyAndReply([Mutation], Reply<Int>)
    case value(Reply<Int>)
  }

  enum Mutation: UInt8, JournalRecord {
    case good, unreadable, impure

    func encode(into encoder: inout RecordEncoder) { encoder.append(rawValue) }

    init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
      guard let mutation = Mutation(rawValue: try decoder.read()), mutation != .unreadable else {
        throw MalformedRecord()
      }
      self = mutation
    }
  }

  struct State: Codable, Sendable, Equatable {
    var value = 0
  }

  static let schema = Schema("misfit")
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>
  /// What a `reduce` must not use.
  private let impureCount = Atomic(0)

  init(_ journal: Journal, _ visibility: Visibility) {
    runtime = Runtime(journal: journal.entry("misfit"), visibility: visibility)
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .apply(let mutations, let effect):
      guard let effect, let last = mutations.last else { return .from(mutations) }
      return .concat(.from(mutations.dropLast()), .afterCommit(last, effect))
    case .applyAndReply(let mutations, let reply):
      reply(currentState.value + mutations.count)
      return .from(mutations)
    case .value(let reply):
      reply(currentState.value)
      return .empty()
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    state.value += 1
    if mutation == .impure { state.value += impureCount.add(1, ordering: .relaxed).newValue }
  }

  static func digest(of state: borrowing State) -> UInt64? { UInt64(state.value) }
}
