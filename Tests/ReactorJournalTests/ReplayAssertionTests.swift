import Foundation
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Testing

/// What ``assertReplays`` accepts, and what it finds.
@Suite struct ReplayAssertionTests {
  /// A reactor whose `reduce` can depend on what differs from process to process.
  final class Names: DurableReactor {
    enum Mistake: String, Codable, Sendable { case none, order, hash, unencoded }

    struct Mutation: Codable, JournalRecord {
      var name: String
      var mistake: Mistake
    }

    struct State: Codable, Equatable, Sendable {
      var names: Set<String> = []
      var chosen: [String] = []
      var sum = 0
      /// Not encoded.
      var count = 0

      enum CodingKeys: CodingKey { case names, chosen, sum }
    }

    static let schema = Schema("names")
    let initialState = State()
    let runtime: Runtime<Mutation, Mutation, State>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("names")) }

    func mutate(action: Mutation) -> Observable<Mutation> { .just(action) }

    func reduce(into state: inout State, mutation: Mutation) {
      state.names.insert(mutation.name)
      switch mutation.mistake {
      case .none: state.chosen = [state.names.min() ?? ""]
      case .order: state.chosen = state.names.prefix(3).map(\.self)
      case .hash: state.sum = mutation.name.hashValue
      case .unencoded: state.count += 1
      }
    }
  }

  /// The same reactor in a program that cannot decode what ``Names`` has encoded.
  final class RenamedNames: DurableReactor {
    typealias Mutation = Names.Mutation

    struct State: Codable, Equatable, Sendable { var allNames: Set<String> = [] }

    static let schema = Names.schema
    let initialState = State()
    let runtime: Runtime<Mutation, Mutation, State>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("names")) }

    func mutate(action: Mutation) -> Observable<Mutation> { .just(action) }

    func reduce(into state: inout State, mutation: Mutation) { state.allNames.insert(mutation.name) }
  }

  /// A reactor whose states depend on what it was made with.
  final class ScaledNames: DurableReactor {
    typealias Mutation = Names.Mutation

    struct State: Codable, Equatable, Sendable { var sum = 0 }

    static let schema = Names.schema
    let initialState = State()
    let runtime: Runtime<Mutation, Mutation, State>
    private let factor: Int

    init(_ factor: Int) throws {
      self.factor = factor
      runtime = Runtime(journal: try Journal(store: InMemoryStore()).entry("names"))
    }

    func mutate(action: Mutation) -> Observable<Mutation> { .just(action) }

    func reduce(into state: inout State, mutation: Mutation) { state.sum += factor }
  }

  /// Writes a history of 200 records, with snapshots behind these ones in it.
  private func withHistory(
    _ mistake: Names.Mistake, snapshots: [Int] = [80, 150], _ body: (String) throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "names-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await write(mistake, snapshots: snapshots, directory, body)
  }

  private func write(
    _ mistake: Names.Mistake, snapshots: [Int], _ directory: URL, _ body: (String) throws -> Void
  ) async throws {
    let path = directory.appendingPathComponent("journal").path
    let journal = try Journal(at: path)
    let names = Names(journal)
    for number in 0..<200 {
      let name = Names.Mutation(name: "name \(number)", mistake: number < 100 ? .none : mistake)
      // Waiting for the disk each time would take long on a slow one.
      if number == 80 || number == 150 || number == 199 {
        try await names.sendDurably(name)
      } else {
        names.send(name)
      }
      if snapshots.contains(number) { try await journal.compact() }
    }
    try Shutdown.close([journal], before: .now + .seconds(30))
    try body(path)
  }

  /// The same in both processes: a folder beside the program.
  private func inFixedFolder(_ body: (_ folder: URL) async throws -> Void) async throws {
    let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("fixed-journal")
    // The other process finds what the first one has written, as it would if nobody removed anything.
    let isFirst = ProcessInfo.processInfo.environment["REACTOR_REPLAY"] == nil
    if isFirst { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { if isFirst { try? FileManager.default.removeItem(at: folder) } }
    try await body(folder)
  }

  private func makeNames() throws -> Names { Names(try Journal(store: InMemoryStore())) }

  @Test func `A function of state and mutation replays`() async throws {
    try await withHistory(.none) { path in try assertReplays(path, entry: "names", of: makeNames()) }
  }

  @Test func `The other process may write to the same file`() async throws {
    try await inFixedFolder { folder in
      try await write(.none, snapshots: [], folder) { path in
        try assertReplays(path, entry: "names", of: makeNames())
      }
    }
  }

  @Test func `The order of a set is found`() async throws {
    try await withHistory(.order, snapshots: []) { path in
      #expect(throws: ReplayDifference.otherProcess(after: 99, upTo: 102)) {
        try assertReplays(path, entry: "names", of: makeNames())
      }
    }
  }

  @Test func `A hash value is found`() async throws {
    try await withHistory(.hash, snapshots: []) { path in
      #expect(throws: ReplayDifference.otherProcess(after: 99, upTo: 102)) {
        try assertReplays(path, entry: "names", of: makeNames())
      }
    }
  }

  @Test func `A part of the state that no snapshot contains is found`() async throws {
    try await withHistory(.unencoded) { path in
      #expect(throws: ReplayDifference.snapshot(position: 151)) {
        try assertReplays(path, entry: "names", of: makeNames())
      }
    }
  }

  /// All records are there, so a start would read these instead.
  @Test func `A snapshot that cannot be decoded is found`() async throws {
    try await withHistory(.none, snapshots: [80]) { path in
      #expect(throws: ReplayDifference.snapshot(position: 81)) {
        try assertReplays(path, entry: "names", of: RenamedNames(Journal(store: InMemoryStore())))
      }
    }
  }

  @Test func `A part of the state that a snapshot would not contain is not blamed on the other process`()
    async throws
  {
    try await withHistory(.unencoded, snapshots: []) { path in
      #expect(throws: ReplayDifference.snapshot(position: 102)) {
        try assertReplays(path, entry: "names", of: makeNames())
      }
    }
  }

  /// The other process would compare the history of the second round with that of the first.
  @Test func `A line in a loop is another call each time`() async throws {
    try await withHistory(.none, snapshots: []) { path in
      for factor in 1...3 { try assertReplays(path, entry: "names", of: ScaledNames(factor)) }
    }
  }

  @Test func `A call that no other process can reach is an error`() async throws {
    try await withHistory(.none) { path in
      #expect {
        try assertReplays(path, entry: "names", of: makeNames(), function: "no such test()")
      } throws: { error in
        if case .noAnswer = error as? ReplayDifference { true } else { false }
      }
    }
  }
}
