import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Testing

/// What a program finds in the journal that an older version of it has written.
@Suite struct ChangedProgramTests {
  /// A reactor whose digest, snapshots and version of the schema differ between two programs.
  private final class Counts<Program: CountsProgram>: DurableReactor {
    typealias Action = Ledger.Mutation
    typealias Mutation = Ledger.Mutation

    struct State: Sendable { var count = 0 }

    static var schema: Schema { Program.schema }
    let initialState = State()
    let runtime: Runtime<Action, Mutation, State>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("counts/1")) }

    func mutate(action: Action) -> Observable<Mutation> { .just(action) }

    func reduce(into state: inout State, mutation: Mutation) { state.count += 1 }

    static func digest(of state: borrowing State) -> UInt64? { UInt64(state.count) + Program.digestOfNone }

    static func encodeSnapshot(of state: borrowing State, into encoder: inout RecordEncoder) throws {
      if !Program.hasSnapshots { throw NotEncoded() }
      encoder.append(Int64(state.count))
    }

    static func decodeSnapshot(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord)
      -> State
    {
      if !Program.hasSnapshots { throw MalformedRecord() }
      guard let count = Program.read(Int(try decoder.read(Int64.self))) else { throw MalformedRecord() }
      return State(count: count)
    }
  }

  fileprivate protocol CountsProgram {
    static var schema: Schema { get }
    /// The digest of a state without mutations.
    static var digestOfNone: UInt64 { get }
    /// Whether states can be written and read.
    static var hasSnapshots: Bool { get }
    /// What the number of a stored state is read as; nil if it cannot be read.
    static func read(_ count: Int) -> Int?
  }

  /// Cannot read the states that it writes.
  private enum WriteOnly: CountsProgram {
    static let (schema, digestOfNone, hasSnapshots) = (Schema("counts"), 0 as UInt64, true)
    static func read(_ count: Int) -> Int? { nil }
  }

  /// Reads other states than it writes.
  private enum Forgetting: CountsProgram {
    static let (schema, digestOfNone, hasSnapshots) = (Schema("counts"), 0 as UInt64, true)
    static func read(_ count: Int) -> Int? { 0 }
  }

  private enum Old: CountsProgram {
    static let (schema, digestOfNone, hasSnapshots) = (Schema("counts"), 0 as UInt64, true)
  }

  /// The same state with another digest.
  private enum Newer: CountsProgram {
    static let (schema, digestOfNone, hasSnapshots) = (
      Schema("counts", version: 2, readsFrom: 1), 1000 as UInt64, true
    )
  }

  /// Reads the records of the old program, but none of its states.
  private enum Stateless: CountsProgram {
    static let (schema, digestOfNone, hasSnapshots) = (Schema("counts"), 0 as UInt64, false)
  }

  /// Does not know the version of the old program.
  private enum Forgetful: CountsProgram {
    static let (schema, digestOfNone, hasSnapshots) = (Schema("counts", version: 2), 0 as UInt64, true)
  }

  private struct NotEncoded: Error {}

  private let store = InMemoryStore()

  /// Runs a program that sends mutations, and returns what it counts.
  private func run<Program: CountsProgram>(
    _: Program.Type, sends number: Int, compacts: Bool = false,
    _ configuration: JournalConfiguration = .init()
  ) async throws -> Int {
    let journal = try Journal(store: store, configuration: configuration)
    defer { try? journal.end() }
    let counts = Counts<Program>(journal)
    try counts.recover()
    for _ in 0..<number {
      try await counts.sendDurably(.added(account: 1, amount: 1))
      if compacts { try await journal.compact() }
    }
    return counts.currentState.count
  }

  /// Replays the history, and returns how many mutations that are, and what they give.
  private func replay<Program: CountsProgram>(_: Program.Type, until last: UInt64 = .max) throws -> [Int] {
    let idle = Counts<Program>(try Journal(store: InMemoryStore()))
    var mutations = 0
    let state = try Journal.replay(store, idle, entry: "counts/1", until: last) { _, _, _ in mutations += 1 }
    return [mutations, state.count]
  }

  @Test func `A digest is compared only with one of the same version of the schema`() async throws {
    var configuration = JournalConfiguration()
    configuration.digestRecords = 2
    #expect(try await run(Old.self, sends: 5, configuration) == 5)
    #expect(try await run(Newer.self, sends: 5, configuration) == 10)
    #expect(try await run(Newer.self, sends: 0) == 10)
    // Those of the newer version are compared.
    let digests = store.batches.indices.filter {
      store.batches[$0].bytes.count > store.batches[0].bytes.count
    }
    #expect(digests.count == 4)
    let last = try #require(digests.last)
    store.batches[last].bytes[store.batches[last].bytes.count - 1] ^= 1
    let position = store.batches[last].first
    await #expect(throws: JournalError.diverged(entry: "counts/1", position: position)) {
      try await run(Newer.self, sends: 0)
    }
  }

  @Test func `A state that cannot be read is ignored while the log has all records`() async throws {
    var configuration = JournalConfiguration()
    (configuration.snapshotRecords, configuration.snapshotRatio) = (2, 0)
    #expect(try await run(Old.self, sends: 9, configuration) == 9)
    #expect(!store.snapshots.isEmpty)
    #expect(try await run(Stateless.self, sends: 0) == 9)
    // The history is complete as well.
    #expect(try replay(Stateless.self) == [9, 9])
    #expect(try replay(Stateless.self, until: 7) == [7, 7])
  }

  @Test func `A state that cannot be read is named if the records before it are removed`() async throws {
    _ = try await run(Old.self, sends: 9, compacts: true)
    let newest = try #require(store.snapshots.map(\.position).max())
    await #expect(throws: JournalError.unreadableSnapshot(entry: "counts/1", position: newest)) {
      try await run(Stateless.self, sends: 0)
    }
    await #expect(throws: JournalError.unknownVersion(entry: "counts/1", version: 1, position: newest)) {
      try await run(Forgetful.self, sends: 0)
    }
    #expect(throws: JournalError.unreadableSnapshot(entry: "counts/1", position: newest)) {
      try replay(Stateless.self)
    }
    #expect(throws: JournalError.unknownVersion(entry: "counts/1", version: 1, position: newest)) {
      try replay(Forgetful.self)
    }
    // Of what the states contain, there is no history.
    #expect(try replay(Old.self) == [1, 9])
    // One state that can be read is enough.
    let oldest = try #require(store.snapshots.firstIndex { $0.position != newest })
    let good = store.snapshots[oldest].bytes
    store.snapshots[oldest].bytes = [1, 2, 3]
    #expect(try replay(Old.self) == [0, 9])
    store.snapshots[oldest].bytes = good
    // Nothing is lost: the program that wrote it still reads it.
    #expect(try await run(Old.self, sends: 0) == 9)
  }

  @Test func `A state that cannot be written is left out, and records are written as before`() async throws {
    let warnings = SystemMutex<[JournalError]>([])
    var configuration = JournalConfiguration()
    (configuration.snapshotRecords, configuration.snapshotRatio) = (10, 0)
    configuration.onWarning = { warning in warnings.withLock { $0.append(warning) } }
    #expect(try await run(Stateless.self, sends: 100, configuration) == 100)
    let found = warnings.withLock { $0 }
    // Not for each record.
    #expect((1...10).contains(found.count))
    let expected = JournalError.snapshotNotEncoded(entry: "counts/1", message: "NotEncoded()")
    #expect(found.allSatisfy { $0 == expected })
    #expect(store.snapshots.isEmpty)
    await #expect(throws: expected) { try await run(Stateless.self, sends: 1, compacts: true) }
    #expect(try await run(Old.self, sends: 1, compacts: true) == 102)
  }

  @Test func `No records are removed for states that the program that writes them cannot read`() async throws
  {
    for round in 1...3 {
      await #expect(throws: JournalError.self) {
        try await round == 2
          ? run(Forgetting.self, sends: 1, compacts: true) : run(WriteOnly.self, sends: 1, compacts: true)
      }
      #expect(store.snapshots.isEmpty)
    }
    #expect(try await run(WriteOnly.self, sends: 0) == 3)
    #expect(try await run(Forgetting.self, sends: 0) == 3)
  }

  @Test func `Compacting stores the states of others though one cannot be written`() async throws {
    let journal = try Journal(store: store)
    let counts = Counts<Stateless>(journal)
    let ledgers = (0..<40).map { Ledger(journal, entry: "ledger/\($0)") }
    try await counts.sendDurably(.added(account: 1, amount: 1))
    for ledger in ledgers { try await ledger.sendDurably(.deposit(account: 1, amount: 1)) }
    await #expect(throws: JournalError.snapshotNotEncoded(entry: "counts/1", message: "NotEncoded()")) {
      try await journal.compact()
    }
    #expect(Set(store.snapshots.map(\.entry)).count == ledgers.count)
    try journal.end()
  }
}

extension ChangedProgramTests.CountsProgram {
  static func read(_ count: Int) -> Int? { count }
}
