import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Testing

/// Records that only conform to `Codable`, and records of older versions.
@Suite struct SchemaTests {
  private final class Notes<Version: NotesVersion>: DurableReactor {
    enum Action: Sendable { case add(String) }

    struct Mutation: JournalRecord, Codable {
      var text: String
      var weight: Double
    }

    static var schema: Schema { Version.schema }
    let initialState: [String] = []
    let runtime: Runtime<Action, Mutation, [String]>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("notes")) }

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .add(let text): .just(Mutation(text: text, weight: .infinity))
      }
    }

    func reduce(into state: inout [String], mutation: Mutation) {
      state.append("\(mutation.text) \(mutation.weight)")
    }
  }

  private protocol NotesVersion { static var schema: Schema { get } }
  private enum First: NotesVersion { static let schema = Schema("notes") }
  private enum Second: NotesVersion {
    static let schema = Schema(
      "notes", version: 3,
      upcasters: [
        1: { bytes in Array(String(decoding: bytes, as: UTF8.self).replacing("old", with: "middle").utf8) },
        2: { bytes in Array(String(decoding: bytes, as: UTF8.self).replacing("middle", with: "new").utf8) },
      ])
  }
  private enum Third: NotesVersion { static let schema = Schema("notes", version: 4) }

  @Test func `Codable records go through the upcasters`() async throws {
    let store = InMemoryStore()
    let first = try Journal(store: store)
    let notes = Notes<First>(first)
    try await notes.sendDurably(.add("old"))
    #expect(notes.currentState == ["old inf"])
    try first.end()

    let second = try Journal(store: store)
    let newer = Notes<Second>(second)
    try await newer.sendDurably(.add("old"))
    #expect(newer.currentState == ["new inf", "old inf"])
    try second.end()

    let third = try Journal(store: store)
    #expect(throws: JournalError.unknownVersion(entry: "notes", version: 1, position: 1)) {
      try Notes<Third>(third).recover()
    }
    try third.end()
  }

  // MARK: Reasons

  private struct Refusal: Error, CustomStringConvertible { let description = "no such note" }

  private enum Refusing: NotesVersion {
    static let schema = Schema("notes", version: 2, upcasters: [1: { _ in throw Refusal() }])
  }

  @Test func `The error of an upcaster is the reason why a record cannot be read`() async throws {
    let store = InMemoryStore()
    let first = try Journal(store: store)
    try await Notes<First>(first).sendDurably(.add("old"))
    try first.end()
    let second = try Journal(store: store)
    #expect(throws: JournalError.malformed(position: 1, reason: "no such note")) {
      try Notes<Refusing>(second).recover()
    }
    try second.end()
  }

  private protocol Sum: Codable, Sendable {
    init()
    mutating func add(_ amount: Int)
  }

  private struct OldSum: Sum {
    var total = 0
    mutating func add(_ amount: Int) { total += amount }
  }

  /// Has a key more, which is not optional.
  private struct NewSum: Sum {
    var total = 0
    var currency = "EUR"
    mutating func add(_ amount: Int) { total += amount }
  }

  private struct OldAmount: JournalRecord, Codable { var amount = 1 }
  private struct NewAmount: JournalRecord, Codable { var (amount, tax) = (1, 0) }

  private final class Till<State: Sum, Mutation: JournalRecord>: DurableReactor {
    let initialState = State()
    let runtime: Runtime<Mutation, Mutation, State>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("till")) }

    static var schema: Schema { Schema("till") }

    func mutate(action: Mutation) -> Observable<Mutation> { .just(action) }

    func reduce(into state: inout State, mutation: Mutation) { state.add(1) }
  }

  @Test func `The key that a stored state or a record lacks is named`() async throws {
    let store = InMemoryStore()
    let first = try Journal(store: store)
    let till = Till<OldSum, OldAmount>(first)
    for _ in 1...3 {
      try await till.sendDurably(OldAmount())
      try await first.compact()
    }
    try await till.sendDurably(OldAmount())
    try first.end()

    /// What a recovery by another program reports.
    func reason(of recover: (Journal) throws -> Void) throws -> String? {
      let journal = try Journal(store: store)
      defer { try? journal.end() }
      do throws(any Error) {
        try recover(journal)
      } catch JournalError.unreadableSnapshot("till", 3, let reason) {
        return reason
      } catch JournalError.malformed(4, let reason) {
        return reason
      }
      return nil
    }
    let ofState = try reason { try Till<NewSum, OldAmount>($0).recover() }
    #expect(ofState?.contains("currency") == true, "\(ofState ?? "none")")
    let ofRecord = try reason { try Till<OldSum, NewAmount>($0).recover() }
    #expect(ofRecord?.contains("tax") == true, "\(ofRecord ?? "none")")
    let other = try Journal(store: InMemoryStore())
    #expect(throws: JournalError.unreadableSnapshot(entry: "till", position: 3, reason: ofState)) {
      _ = try Journal.replay(store, Till<NewSum, OldAmount>(other), entry: "till") { _, _, _ in }
    }
    try other.end()
  }
}
