import Glibc
import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

/// What goes on while a state is encoded, which takes long if the state is large.
@Suite struct SnapshotEncodingTests {
  private let store = InMemoryStore()

  private func makeJournal(at store: InMemoryStore) throws -> Journal {
    var configuration = JournalConfiguration()
    (configuration.snapshotRecords, configuration.snapshotRatio) = (1, 0)
    return try Journal(store: store, configuration: configuration)
  }

  @Test(arguments: [SnapshotPolicy.onDemand, .copied, .replayed])
  func `What is sent while the state is encoded is durable and shown meanwhile`(_ policy: SnapshotPolicy)
    async throws
  {
    let journal = try makeJournal(at: store)
    let reactor = SlowEncoder(journal, policy)
    try await reactor.sendDurably(7)
    #expect(reactor.gates.isEncoding.wait())
    let isSent = Gate()
    Task {
      for _ in 0..<20 { try await reactor.sendDurably(1) }
      isSent.open()
    }
    #expect(await eventually { isSent.isOpen })
    #expect(reactor.currentState.sum == 27)
    #expect(store.snapshots.isEmpty)
    reactor.gates.mayEncode.open()
    // Of the state as it was. The next one is made with the next record.
    #expect(Threads.yield { store.snapshots.count == 1 })
    #expect(store.snapshots.map(\.position) == [1])
    try await reactor.sendDurably(1)
    #expect(Threads.yield { store.snapshots.count == 2 })
    #expect(store.snapshots.map(\.position).sorted() == [1, 22])
    try journal.end()
    let next = try makeJournal(at: store)
    #expect(SlowEncoder(next).currentState.sum == 28)
    try next.end()
  }

  @Test func `The copy of a state that was encoded is gone`() async throws {
    let lifetimes = Lifetimes()
    let journal = try makeJournal(at: store)
    do {
      let reactor = SlowEncoder(journal, tracked: lifetimes.track())
      reactor.gates.mayEncode.open()
      try await reactor.sendDurably(7)
      #expect(Threads.yield { store.snapshots.count == 1 })
    }
    try journal.end()
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `A state that is being encoded when its journal is closed is written`() async throws {
    let journal = try makeJournal(at: store)
    let reactor = SlowEncoder(journal)
    try await reactor.sendDurably(7)
    #expect(reactor.gates.isEncoding.wait())
    journal.beginClosing()
    #expect(!journal.finishClosing(before: .now + .milliseconds(100)).isEmpty)
    let closing = Threads.start { try? journal.end() }
    // Not of the task, which may wait for many others before it goes on: longer than `end()` waits.
    usleep(20_000)
    #expect(!closing.isOpen)
    reactor.gates.mayEncode.open()
    #expect(closing.wait())
    #expect(store.snapshots.map(\.position) == [1])
    let next = try makeJournal(at: store)
    #expect(SlowEncoder(next).currentState.sum == 7)
    try next.end()
  }
}

/// A reactor whose states are encoded when the test lets them.
private final class SlowEncoder: DurableReactor {
  typealias Action = Int64

  /// What the encoder opens, and what it waits for.
  final class Gates: Sendable {
    let isEncoding = Gate()
    let mayEncode = Gate()
  }

  struct State: Sendable {
    var sum: Int64 = 0
    let gates: Gates
    let tracked: LifetimeTracked?
  }

  struct Mutation: JournalRecord {
    let amount: Int64

    init(_ amount: Int64) { self.amount = amount }
    func encode(into encoder: inout RecordEncoder) { encoder.append(amount) }
    init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
      amount = try decoder.read()
    }
  }

  static let schema = Schema("slow encoder")
  let initialState: State
  let runtime: Runtime<Int64, Mutation, State>
  let gates = Gates()

  init(_ journal: Journal, _ snapshots: SnapshotPolicy = .automatic, tracked: LifetimeTracked? = nil) {
    initialState = State(gates: gates, tracked: tracked)
    runtime = Runtime(journal: journal.entry("slow encoder"), snapshots: snapshots)
  }

  func mutate(action: Int64) -> Observable<Mutation> { .just(Mutation(action)) }

  func reduce(into state: inout State, mutation: Mutation) { state.sum += mutation.amount }

  static func encodeSnapshot(of state: borrowing State, into encoder: inout RecordEncoder) throws {
    state.gates.isEncoding.open()
    _ = state.gates.mayEncode.wait()
    encoder.append(state.sum)
  }

  static func decodeSnapshot(
    from decoder: inout RecordDecoder, version: UInt16
  ) throws(MalformedRecord) -> State {
    State(sum: try decoder.read(), gates: Gates(), tracked: nil)
  }
}
