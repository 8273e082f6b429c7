import CSQLite
import Dispatch
import Glibc
import ReactorCore
import ReactorJournal
import ReactorRuntime

/// A directory on the disk that holds the current directory: `/tmp` is often in memory.
final class JournalDirectory: Sendable {
  let path: String

  init() throws {
    var name = Array(".journal-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw SubjectFailure("no directory can be made here") }
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for suffix in ["", "-wal", "-shm", ".lock", "-replay"] { unlink("\(path)/journal\(suffix)") }
    rmdir(path)
  }

  var file: String { "\(path)/journal" }
}

/// How many bytes a record has.
protocol RecordSize: Sendable { static var padding: [UInt8] { get } }
enum SmallRecord: RecordSize { static let padding: [UInt8] = [] }
enum LargeRecord: RecordSize { static let padding = [UInt8](repeating: 0, count: 55) }

/// The reactor of the benchmark with a journal.
final class DurableTally<Size: RecordSize>: DurableReactor {
  enum Action: Sendable {
    case add(Item)
    case addAndReply(Item, Reply<Void>)
  }

  struct Mutation: JournalRecord {
    let item: Item

    func encode(into encoder: inout RecordEncoder) {
      encoder.append(UInt8(truncatingIfNeeded: item.producer))
      encoder.append(item.value)
      if !Size.padding.isEmpty { encoder.append(contentsOf: Size.padding.span.bytes) }
    }

    init(item: Item) { self.item = item }

    init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
      let producer = UInt64(try decoder.read(UInt8.self))
      item = Item(producer: producer, value: try decoder.read())
    }
  }

  struct State: Codable, Sendable {
    var count = 0
    var sum: UInt64 = 0
    var totals: Totals { Totals(count: count, sum: sum) }
  }

  static var schema: Schema { Schema("tally") }
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(_ journal: Journal, capacity: Int = 65_536) {
    runtime = Runtime(journal: journal.entry("tally"), capacity: capacity)
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .add(let item):
      return .just(Mutation(item: item))
    case .addAndReply(let item, let reply):
      reply()
      return .just(Mutation(item: item))
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    state.count &+= 1
    state.sum &+= mutation.item.value
  }
}

/// Durable mutations: the repetition ends when all are on the disk.
final class JournalSubject<Size: RecordSize>: FanInSubject {
  private let directory: JournalDirectory
  private let journal: Journal
  private let reactor: DurableTally<Size>

  init(_ setup: SubjectSetup) throws {
    directory = try JournalDirectory()
    journal = try Journal(at: directory.file)
    reactor = DurableTally(journal)
    try reactor.recover()
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reactor.send(.add(Item(producer: UInt64(producer), value: value))) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    while reactor.durableState.count < quota.total {
      try quota.checkDeadline(reduced: reactor.durableState.count)
      usleep(50)
    }
    let totals = reactor.durableState.totals
    try Shutdown.close([journal], before: .now + .seconds(30))
    return totals
  }
}

/// One durable action at a time: each waits for the disk.
final class JournalReplySubject: FanInSubject {
  static var chunk: Int { 16 }
  private let directory: JournalDirectory
  private let journal: Journal
  private let reactor: DurableTally<LargeRecord>

  init(_ setup: SubjectSetup) throws {
    directory = try JournalDirectory()
    journal = try Journal(at: directory.file)
    reactor = DurableTally(journal)
    try reactor.recover()
  }

  func produce(producer: Int, values: Range<UInt64>) {
    let isDone = DispatchSemaphore(value: 0)
    for value in values {
      let item = Item(producer: UInt64(producer), value: value)
      reactor.ask({ .addAndReply(item, $0) }, completion: { _ in isDone.signal() })
      isDone.wait()
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    let totals = reactor.durableState.totals
    try Shutdown.close([journal], before: .now + .seconds(30))
    return totals
  }
}

/// What a program does without a journal: a mutex, and one transaction of SQLite for each action.
///
/// `@unchecked Sendable`: the connection and the state are used under the mutex.
final class SQLiteBaseline: FanInSubject, @unchecked Sendable {
  static var chunk: Int { 16 }
  private let directory: JournalDirectory
  private let lock = SystemMutex(())
  private var connection: OpaquePointer?
  private var insert: OpaquePointer?
  private var tally = Tally(inspector: nil)

  init(_ setup: SubjectSetup) throws {
    directory = try JournalDirectory()
    guard sqlite3_open(directory.file, &connection) == SQLITE_OK else {
      throw SubjectFailure("SQLite cannot open")
    }
    for sql in [
      "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA locking_mode=EXCLUSIVE",
      "CREATE TABLE records(position INTEGER PRIMARY KEY, bytes BLOB)",
    ] { guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw SubjectFailure(sql) } }
    sqlite3_prepare_v2(connection, "INSERT INTO records(bytes) VALUES(?1)", -1, &insert, nil)
  }

  deinit {
    sqlite3_finalize(insert)
    sqlite3_close(connection)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    var bytes = [UInt8](repeating: UInt8(producer), count: 64)
    for value in values {
      bytes[1] = UInt8(truncatingIfNeeded: value)
      lock.withLock { _ in
        // Nil: the bytes live until the statement is stepped.
        sqlite3_bind_blob(insert, 1, bytes, Int32(bytes.count), nil)
        guard sqlite3_step(insert) == SQLITE_DONE else { return }
        sqlite3_reset(insert)
        tally.reduce(Item(producer: UInt64(producer), value: value))
      }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return lock.withLock { _ in tally.totals }
  }
}

/// Recovering a reactor from records.
enum JournalReplay {
  static func variant<Size: RecordSize>(_ name: String, _: Size.Type) -> Variant {
    Variant(name: name, hasOrder: false) { _, request, _ in
      let directory = try JournalDirectory()
      var configuration = JournalConfiguration()
      configuration.snapshotRecords = nil
      do {
        let journal = try Journal(at: directory.file, configuration: configuration)
        let reactor = DurableTally<Size>(journal)
        for value in 0..<request.count { reactor.send(.add(Item(producer: 1, value: UInt64(value)))) }
        try Shutdown.close([journal], before: .now + .seconds(60))
      }
      let journal = try Journal(at: directory.file, configuration: configuration)
      let reactor = DurableTally<Size>(journal)
      let begin = ContinuousClock.now
      try reactor.recover()
      let time = ContinuousClock.now - begin
      guard reactor.durableState.count == request.count else { throw SubjectFailure("records are missing") }
      try Shutdown.close([journal], before: .now + .seconds(60))
      return Measurement(nanoseconds: Double(time.attoseconds / 1_000_000_000), actions: request.count)
    }
  }
}
