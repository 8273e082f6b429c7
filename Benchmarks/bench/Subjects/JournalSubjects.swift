import CReactorSQLite
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

/// The mutation of the benchmark's durable reactors.
protocol TallyRecord: JournalRecord {
  var item: Item { get }
  init(item: Item)
}

/// 9 bytes.
struct SmallRecord: TallyRecord {
  let item: Item

  init(item: Item) { self.item = item }

  func encode(into encoder: inout RecordEncoder) {
    encoder.append(UInt8(truncatingIfNeeded: item.producer))
    encoder.append(item.value)
  }

  init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
    let producer = UInt64(try decoder.read(UInt8.self))
    item = Item(producer: producer, value: try decoder.read())
  }
}

/// 64 bytes.
struct LargeRecord: TallyRecord {
  private static let padding = [UInt8](repeating: 0, count: 55)
  let item: Item

  init(item: Item) { self.item = item }

  func encode(into encoder: inout RecordEncoder) {
    encoder.append(UInt8(truncatingIfNeeded: item.producer))
    encoder.append(item.value)
    encoder.append(contentsOf: Self.padding.span.bytes)
  }

  init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
    let producer = UInt64(try decoder.read(UInt8.self))
    item = Item(producer: producer, value: try decoder.read())
  }
}

/// Written as it is in memory.
struct PlainRecord: TallyRecord, RawRecord {
  static let layout = RawLayout(of: Self.self, \.producer, \.value)
  private let producer: UInt64
  private let value: UInt64
  var item: Item { Item(producer: producer, value: value) }

  init(item: Item) { (producer, value) = (item.producer, item.value) }
}

/// Written as JSON.
struct CodableRecord: TallyRecord, Codable {
  private let producer: UInt64
  private let value: UInt64
  var item: Item { Item(producer: producer, value: value) }

  init(item: Item) { (producer, value) = (item.producer, item.value) }
}

enum DurableAction: Sendable {
  case add(Item)
  case addAndReply(Item, Reply<Void>)
}

struct DurableTallyState: Codable, Sendable {
  var count = 0
  var sum: UInt64 = 0
  var totals: Totals { Totals(count: count, sum: sum) }
}

/// The reactor of the benchmark with a journal. The conforming classes are not generic: otherwise the compiler does not
/// specialise what the journal's threads run.
protocol DurableTally: DurableReactor
where Action == DurableAction, Mutation: TallyRecord, State == DurableTallyState {
  init(_ journal: Journal)
}

extension DurableTally {
  func mutate(action: DurableAction) -> Observable<Mutation> {
    switch action {
    case .add(let item):
      return .just(Mutation(item: item))
    case .addAndReply(let item, let reply):
      reply()
      return .just(Mutation(item: item))
    }
  }

  func reduce(into state: inout DurableTallyState, mutation: Mutation) {
    state.count &+= 1
    state.sum &+= mutation.item.value
  }
}

final class SmallTally: DurableTally {
  static let schema = Schema("tally")
  let initialState = DurableTallyState()
  let runtime: Runtime<DurableAction, SmallRecord, DurableTallyState>

  init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("tally"), capacity: 65_536) }
}

final class LargeTally: DurableTally {
  static let schema = Schema("tally")
  let initialState = DurableTallyState()
  let runtime: Runtime<DurableAction, LargeRecord, DurableTallyState>

  init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("tally"), capacity: 65_536) }
}

/// Durable mutations: the repetition ends when all are on the disk.
final class JournalSubject<Tally: DurableTally>: FanInSubject {
  /// The journal makes its thread itself.
  static var floats: Bool { true }

  private let directory: JournalDirectory
  private let journal: Journal
  private let reactor: Tally

  init(_ setup: SubjectSetup) throws {
    directory = try JournalDirectory()
    journal = try Journal(at: directory.file)
    reactor = Tally(journal)
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
  private let reactor: LargeTally

  init(_ setup: SubjectSetup) throws {
    directory = try JournalDirectory()
    journal = try Journal(at: directory.file)
    reactor = LargeTally(journal)
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

/// How many actions share a transaction.
protocol TransactionSize {
  static var actions: Int { get }
}
/// A caller that waits until its action is on the disk can do no more than one.
enum OneAction: TransactionSize {
  static var actions: Int { 1 }
}
/// As a journal takes together what has arrived while it wrote.
enum ManyActions: TransactionSize {
  static var actions: Int { 1024 }
}

/// What a program does without a journal: a mutex, and transactions of SQLite.
///
/// `@unchecked Sendable`: the connection and the state are used under the mutex.
final class SQLiteBaseline<Size: TransactionSize>: FanInSubject, @unchecked Sendable {
  static var chunk: Int { max(16, Size.actions) }
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
    var rest = values
    while !rest.isEmpty {
      let together = rest.prefix(Size.actions)
      rest = rest.dropFirst(Size.actions)
      lock.withLock { _ in
        if Size.actions > 1 { sqlite3_exec(connection, "BEGIN", nil, nil, nil) }
        for value in together {
          bytes[1] = UInt8(truncatingIfNeeded: value)
          // Nil: the bytes live until the statement is stepped.
          sqlite3_bind_blob(insert, 1, bytes, Int32(bytes.count), nil)
          guard sqlite3_step(insert) == SQLITE_DONE else { return }
          sqlite3_reset(insert)
        }
        if Size.actions > 1, sqlite3_exec(connection, "COMMIT", nil, nil, nil) != SQLITE_OK { return }
        for value in together { tally.reduce(Item(producer: UInt64(producer), value: value)) }
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
  static func variant<Tally: DurableTally>(_ name: String, _: Tally.Type) -> Variant {
    Variant(name: name, hasOrder: false) { _, request, _ in
      let directory = try JournalDirectory()
      var configuration = JournalConfiguration()
      configuration.snapshotRecords = nil
      do {
        let journal = try Journal(at: directory.file, configuration: configuration)
        let reactor = Tally(journal)
        for value in 0..<request.count { reactor.send(.add(Item(producer: 1, value: UInt64(value)))) }
        try Shutdown.close([journal], before: .now + .seconds(60))
      }
      let journal = try Journal(at: directory.file, configuration: configuration)
      let reactor = Tally(journal)
      let begin = ContinuousClock.now
      try reactor.recover()
      let time = ContinuousClock.now - begin
      let count = UInt64(request.count)
      try Verification.check(
        reactor.durableState.totals, Totals(count: request.count, sum: count * (count &- 1) / 2), nil)
      try Shutdown.close([journal], before: .now + .seconds(60))
      return Measurement(nanoseconds: Double(time.attoseconds / 1_000_000_000), actions: request.count)
    }
  }
}

/// Writing records into a turn's memory, without a journal.
enum JournalEncoding {
  static func variant<Record: TallyRecord>(_ name: String, _: Record.Type) -> Variant {
    Variant(name: name, hasOrder: false) { _, request, _ in try run(Record.self, count: request.count) }
  }

  static func run<Record: TallyRecord>(_: Record.Type, count: Int) throws -> Measurement {
    var writer = RecordRunWriter()
    var written: UInt32 = 0
    let begin = MonotonicTime.now
    writer.begin(entry: 1, kind: .mutations, version: 1)
    for value in 0..<UInt64(count) {
      writer.append { Record(item: Item(producer: 1, value: value)).encode(into: &$0) }
      // What a turn hands over at most, about.
      if writer.byteCount > 1 << 16 {
        writer.end()
        written += writer.mutationCount
        writer.clear()
        writer.begin(entry: 1, kind: .mutations, version: 1)
      }
    }
    let last = writer.unfinishedCount
    let time = MonotonicTime.now - begin
    guard written + last == UInt32(count) else { throw SubjectFailure("records are missing") }
    writer.end()
    try check(writer.take(), of: Record.self, values: UInt64(written)..<UInt64(count))
    return Measurement(nanoseconds: Double(time), actions: count)
  }

  /// Reads the last run, which is what is left of the written bytes.
  private static func check<Record: TallyRecord>(
    _ bytes: [UInt8], of: Record.Type, values: Range<UInt64>
  ) throws {
    var next = values.lowerBound
    var reader = RecordRunReader(bytes.span.bytes, first: 1)
    while var run = try reader.next() {
      while let record = try run.next() {
        var decoder = RecordDecoder(record)
        let item = try Record(from: &decoder, version: 1).item
        guard item.producer == 1, item.value == next else {
          throw SubjectFailure("the record of \(next) is that of \(item.value)")
        }
        next += 1
      }
    }
    guard next == values.upperBound else { throw SubjectFailure("records are missing from their run") }
  }
}
