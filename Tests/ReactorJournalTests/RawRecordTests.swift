import ReactorJournalTesting
import ReactorRuntime
import Testing

@testable import ReactorJournal

/// Records that are written as they are in memory.
@Suite struct RawRecordTests {
  private struct Trade: RawRecord, Equatable {
    var amount: Int64
    var price: Double
    var account: UInt32
    var kind: UInt16
    var unused: UInt16 = 0
    static let layout = RawLayout(of: Trade.self, \.account, \.amount, \.price, \.unused, \.kind)
  }

  /// With the same size.
  private struct Reordered: RawRecord {
    var price: Double
    var amount: Int64
    var account: UInt32
    var kind: UInt16
    var unused: UInt16
    static let layout = RawLayout(of: Reordered.self, \.price, \.amount, \.account, \.kind, \.unused)
  }

  private struct Retyped: RawRecord {
    var amount: UInt64
    var price: Double
    var account: UInt32
    var kind: UInt16
    var unused: UInt16
    static let layout = RawLayout(of: Retyped.self, \.amount, \.price, \.account, \.kind, \.unused)
  }

  private func encode(_ record: some JournalRecord) -> [UInt8] {
    var encoder = RecordEncoder()
    record.encode(into: &encoder)
    return encoder.take()
  }

  private func decode<Record: JournalRecord>(_: Record.Type, _ bytes: [UInt8]) throws -> Record {
    var decoder = RecordDecoder(bytes.span.bytes)
    return try Record(from: &decoder, version: 1)
  }

  private let trade = Trade(amount: -5, price: 2.5, account: 7, kind: 3)

  @Test func `A record is its fingerprint and its bytes`() throws {
    let bytes = encode(trade)
    #expect(bytes.count == 4 + MemoryLayout<Trade>.size)
    #expect(Array(bytes[4..<12]) == [0xFB, 255, 255, 255, 255, 255, 255, 255])
    #expect(try decode(Trade.self, bytes) == trade)
    // Whatever comes before it in the batch.
    var encoder = RecordEncoder()
    encoder.append(1 as UInt8)
    trade.encode(into: &encoder)
    let shifted = encoder.take()
    #expect(try decode(Trade.self, Array(shifted.dropFirst())) == trade)
  }

  @Test func `Another order or another type of a property is refused`() throws {
    let bytes = encode(trade)
    #expect(throws: MalformedRecord.self) { try decode(Reordered.self, bytes) }
    #expect(throws: MalformedRecord.self) { try decode(Retyped.self, bytes) }
  }

  @Test func `A record of another length is refused`() throws {
    let bytes = encode(trade)
    for count in 0..<bytes.count {
      #expect(throws: MalformedRecord.self) { try decode(Trade.self, Array(bytes.prefix(count))) }
    }
    #expect(throws: MalformedRecord.self) { try decode(Trade.self, bytes + [0]) }
  }

  @Test func `A layout with a hole stops the program`() async {
    struct Hole: BitwiseCopyable {
      var small: UInt8
      var large: UInt64
    }
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = RawLayout(of: Hole.self, \.small, \.large)
    }
    #expect(stop?.standardErrorContent.says("the layout of Hole does not say what its byte 1 is") == true)
    let stop2 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = RawLayout(of: Hole.self, \.small)
    }
    #expect(stop2?.standardErrorContent.says("the layout of Hole does not say what its byte 1 is") == true)
  }

  private final class Book: DurableReactor {
    typealias Action = Trade
    typealias Mutation = Trade
    static let schema = Schema("book")
    let initialState: [Int64] = []
    let runtime: Runtime<Trade, Trade, [Int64]>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("book")) }
    func mutate(action: Trade) -> Observable<Trade> { .just(action) }
    func reduce(into state: inout [Int64], mutation: Trade) { state.append(mutation.amount) }
  }

  @Test func `A reactor gets its raw records back`() async throws {
    let store = InMemoryStore()
    let journal = try Journal(store: store)
    let book = Book(journal)
    for amount in 0..<100 {
      book.send(Trade(amount: Int64(amount), price: 1, account: UInt32(amount), kind: 1))
    }
    try journal.end()
    let next = try Journal(store: store)
    #expect(Book(next).currentState == Array(0..<100))
    try next.end()
    // The fingerprint of the first record.
    store.batches[0].bytes[17] ^= 1
    let damaged = try Journal(store: store)
    #expect(throws: JournalError.malformed(position: 1)) { try Book(damaged).recover() }
    try damaged.end()
  }
}
