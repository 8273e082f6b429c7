/// What the records of a run are.
public enum RecordKind: UInt8, Sendable {
  /// Mutations: the only records that have positions.
  case mutations = 1
  /// Identifiers of requests.
  case identifiers = 2
  /// Digests of the entry's state after its last mutation before this run.
  case digests = 3
}

/// Consecutive records of one entry and one kind, as they are in ``JournalBatch/bytes``:
///
/// | bytes | contents |
/// |---|---|
/// | 4 | the entry's number |
/// | 4 | how many bytes follow the header |
/// | 4 | how many records follow |
/// | 2 | the version of the schema |
/// | 1 | the ``RecordKind`` |
/// | 1 | 0 |
/// | … | each record: its length as a varint, its bytes |
///
/// All integers are little-endian. A batch is runs, one after the other, and nothing else.
@usableFromInline
package struct RecordRun: ~Escapable {
  @usableFromInline package static let headerSize = 16

  /// The entry's number.
  @usableFromInline package let entry: UInt32
  /// Of the schema.
  @usableFromInline package let version: UInt16
  @usableFromInline package let kind: RecordKind
  /// How many records there are.
  @usableFromInline package let count: UInt32
  /// The position of the first record, if these are mutations; otherwise that of the next mutation.
  @usableFromInline package let first: UInt64
  @usableFromInline var decoder: RecordDecoder
  @usableFromInline var remaining: UInt32

  /// Reads a header and finds the run's end. The records are checked when they are read.
  @inlinable @_lifetime(copy bytes)
  init(at offset: Int, of bytes: RawSpan, first: UInt64) throws(MalformedRecord) {
    var header = RecordDecoder(bytes.extracting(offset..<bytes.byteCount))
    entry = try header.read()
    let byteCount: UInt32 = try header.read()
    count = try header.read()
    version = try header.read()
    let kind: UInt8 = try header.read()
    let flags: UInt8 = try header.read()
    guard let kind = RecordKind(rawValue: kind), flags == 0, header.remainingCount >= Int(byteCount) else {
      throw MalformedRecord()
    }
    self.kind = kind
    self.first = first
    remaining = count
    let start = offset &+ Self.headerSize
    decoder = RecordDecoder(bytes.extracting(start..<start &+ Int(byteCount)))
  }

  /// How many bytes the run has, with its header.
  package var byteCount: Int { Self.headerSize + decoder.bytes.byteCount }

  /// Returns the bytes of the next record; nil after the last one.
  ///
  /// - Throws: ``MalformedRecord`` if the lengths do not fit the run.
  @inlinable @_lifetime(copy self)
  package mutating func next() throws(MalformedRecord) -> RawSpan? {
    guard remaining > 0 else {
      guard decoder.remainingCount == 0 else { throw MalformedRecord() }
      return nil
    }
    remaining &-= 1
    let length = try decoder.readVarint()
    guard length <= UInt64(decoder.remainingCount) else { throw MalformedRecord() }
    let start = decoder.offset
    decoder.offset = start &+ Int(length)
    return decoder.bytes.extracting(start..<decoder.offset)
  }
}

/// Reads the runs of a batch, in order. Copies nothing and allocates nothing.
@usableFromInline
package struct RecordRunReader: ~Escapable {
  @usableFromInline let bytes: RawSpan
  @usableFromInline var offset = 0
  /// The position of the next mutation.
  @usableFromInline package private(set) var position: UInt64

  /// - Parameters:
  ///   - bytes: Those of a ``JournalBatch``.
  ///   - first: The position of its first record.
  @inlinable @_lifetime(copy bytes)
  package init(_ bytes: RawSpan, first: UInt64) {
    self.bytes = bytes
    position = first
  }

  /// Returns the next run; nil after the last one.
  ///
  /// - Throws: ``JournalError/malformed(position:reason:)`` if there is something else than a run.
  @inlinable @_lifetime(copy self)
  package mutating func next() throws(JournalError) -> RecordRun? {
    guard offset < bytes.byteCount else { return nil }
    do throws(MalformedRecord) {
      let run = try RecordRun(at: offset, of: bytes, first: position)
      offset &+= RecordRun.headerSize &+ run.decoder.remainingCount
      if run.kind == .mutations { position &+= UInt64(run.count) }
      return run
    } catch {
      throw .malformed(position: position)
    }
  }
}
