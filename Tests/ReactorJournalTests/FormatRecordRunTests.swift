import ReactorCore
import TestSupport
import Testing

@testable import ReactorJournal

/// The bytes of a batch: what is written is read again, and no bytes make the reader misbehave.
@Suite struct FormatRecordRunTests {
  struct Run: Equatable {
    var entry: UInt32
    var kind: RecordKind
    var version: UInt16
    var first: UInt64
    var records: [[UInt8]]
  }

  /// All runs of a batch.
  static func runs(of bytes: [UInt8], first: UInt64 = 1) throws -> [Run] {
    var reader = RecordRunReader(bytes.span.bytes, first: first)
    var runs: [Run] = []
    while var run = try reader.next() {
      var records: [[UInt8]] = []
      while let record = try run.next() { records.append([UInt8](copying: record)) }
      runs.append(
        Run(entry: run.entry, kind: run.kind, version: run.version, first: run.first, records: records))
    }
    return runs
  }

  /// There may be many reactors that had one large turn each.
  @Test func `A writer gives up the memory of a large turn, and keeps that of a small one`() {
    var writer = RecordRunWriter()
    for (size, isKept) in [(1000, true), (100_000, false)] {
      writer.begin(entry: 1, kind: .mutations, version: 1)
      writer.append { $0.append([UInt8](repeating: 7, count: size)) }
      writer.end()
      writer.clear()
      #expect((writer.encoder.storage.count >= size) == isKept)
    }
  }

  @Test func `Runs of records of any length are read as they were written`() throws {
    var random = SplitMix64(seed: 16)
    let lengths = [0, 1, 9, 64, 126, 127, 128, 129, 255, 256, 16_383, 16_384, 70_000]
    for _ in 0..<60 {
      var writer = RecordRunWriter()
      var expected: [Run] = []
      var position: UInt64 = 7
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let kind: RecordKind = [.mutations, .identifiers, .digests].randomElement(using: &random)!
        var run = Run(
          entry: random.next32(), kind: kind, version: UInt16(random.next32() & 0xFFFF), first: position,
          records: [])
        writer.begin(entry: run.entry, kind: kind, version: run.version)
        for _ in 0..<Int.random(in: 0...4, using: &random) {
          let record = [UInt8](
            repeating: UInt8(random.next32() & 0xFF), count: lengths.randomElement(using: &random)!)
          writer.append { $0.append(contentsOf: record.span.bytes) }
          run.records.append(record)
        }
        if Bool.random(using: &random) {
          writer.drop()
        } else {
          writer.end()
          guard !run.records.isEmpty else { continue }
          expected.append(run)
          if kind == .mutations { position += UInt64(run.records.count) }
        }
      }
      #expect(UInt64(writer.mutationCount) == position - 7)
      let bytes = writer.take()
      #expect(try Self.runs(of: bytes, first: 7) == expected)
      #expect(writer.byteCount == 0)
    }
  }

  @Test func `A record whose encoding throws leaves the run as it was`() throws {
    struct Refused: Error {}
    var writer = RecordRunWriter(reusing: [1, 2, 3])
    writer.begin(entry: 1, kind: .mutations, version: 1)
    writer.append { $0.append(5 as UInt8) }
    #expect(throws: Refused.self) {
      try writer.append { encoder throws(Refused) in
        encoder.append("half of a record")
        throw Refused()
      }
    }
    writer.end()
    #expect(try Self.runs(of: writer.take()).map(\.records) == [[[5]]])
  }

  @Test func `Values are decoded as they were encoded`() throws {
    let numbers: [UInt64] = [0, 1, 127, 128, 16_383, 16_384, .max >> 1, .max]
    var encoder = RecordEncoder()
    for number in numbers { encoder.append(varint: number) }
    encoder.append(-5 as Int32)
    encoder.append(true)
    encoder.append(-0.5)
    encoder.append("äöü 🙂")
    encoder.append([1, 2, 3])
    encoder.append(contentsOf: ([9, 8] as [UInt8]).span.bytes)
    let bytes = encoder.take()
    var decoder = RecordDecoder(bytes.span.bytes)
    for number in numbers { #expect(try decoder.readVarint() == number) }
    #expect(try decoder.read(Int32.self) == -5)
    #expect(try decoder.readBool())
    #expect(try decoder.readDouble() == -0.5)
    #expect(try decoder.readString() == "äöü 🙂")
    #expect(try decoder.readBytes() == [1, 2, 3])
    #expect([UInt8](copying: decoder.readRest()) == [9, 8])
    #expect(decoder.remainingCount == 0)
    #expect(decoder.byteOffset == bytes.count)
  }

  @Test(
    arguments: [
      [0x80], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0],
    ] as [[UInt8]])
  func `A varint that does not end or does not fit is refused`(bytes: [UInt8]) {
    #expect(throws: MalformedRecord.self) {
      var decoder = RecordDecoder(bytes.span.bytes)
      _ = try decoder.readVarint()
    }
  }

  @Test func `Text that is not UTF8, lengths beyond the end and missing bytes are refused`() {
    #expect(throws: MalformedRecord.self) {
      let bytes: [UInt8] = [1, 0xFF]
      var decoder = RecordDecoder(bytes.span.bytes)
      _ = try decoder.readString()
    }
    #expect(throws: MalformedRecord.self) {
      let bytes: [UInt8] = [2, 0xFF]
      var decoder = RecordDecoder(bytes.span.bytes)
      _ = try decoder.readBytes()
    }
    #expect(throws: MalformedRecord.self) {
      let bytes: [UInt8] = [1, 2, 3]
      var decoder = RecordDecoder(bytes.span.bytes)
      _ = try decoder.read(UInt32.self)
    }
    #expect(throws: MalformedRecord.self) {
      let bytes: [UInt8] = [2]
      var decoder = RecordDecoder(bytes.span.bytes)
      _ = try decoder.readBool()
    }
  }

  @Test func `Every prefix of a batch and every changed header is read or refused, and never trapped on`()
    throws
  {
    var writer = RecordRunWriter()
    for entry in 0..<3 as Range<UInt32> {
      writer.begin(entry: entry, kind: .mutations, version: 1)
      for length in 0..<3 { writer.append { $0.append([UInt8](repeating: 7, count: length)) } }
      writer.end()
    }
    let bytes = writer.take()
    let whole = try Self.runs(of: bytes)
    for end in 0..<bytes.count {
      // The only prefixes without a fault are those of whole runs.
      let runs = try? Self.runs(of: Array(bytes[..<end]))
      #expect(runs.map { $0 == Array(whole.prefix($0.count)) } ?? true)
      #expect((runs != nil) == (end % (bytes.count / 3) == 0))
    }
    for offset in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[offset] ^= 1 << bit
        guard let runs = try? Self.runs(of: changed) else { continue }
        #expect(runs != whole)
        // Lengths and counts contradict one another, and the last byte of a header must be 0.
        let field = offset % (bytes.count / 3)
        #expect(!(4..<12).contains(field) && field != 15)
      }
    }
  }
}

extension SplitMix64 {
  mutating func next32() -> UInt32 { UInt32(truncatingIfNeeded: next()) }
}
