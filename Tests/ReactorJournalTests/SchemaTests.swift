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
}
