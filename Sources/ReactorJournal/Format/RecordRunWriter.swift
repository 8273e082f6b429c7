/// Writes the runs of a batch, one record after the other, into one buffer that grows.
///
/// A run is begun, gets its records, and is ended or dropped. What is not ended is not in ``take()``. For one thread.
@usableFromInline
package struct RecordRunWriter {
  @usableFromInline var encoder: RecordEncoder
  /// Where the unfinished run begins; nil if there is none.
  @usableFromInline var start: Int?
  @usableFromInline var runCount: UInt32 = 0
  @usableFromInline var isRunOfMutations = false
  /// How many mutations there are in ended runs.
  @usableFromInline package private(set) var mutationCount: UInt32 = 0

  /// - Parameter buffer: Memory to use again, for instance the bytes of a batch that is written; its contents are lost.
  @inlinable
  package init(reusing buffer: consuming [UInt8] = []) { encoder = RecordEncoder(reusing: buffer) }

  /// How many bytes there are, with those of the unfinished run.
  @inlinable
  package var byteCount: Int { encoder.byteCount }

  /// How many records the unfinished run has.
  @inlinable
  package var unfinishedCount: UInt32 { runCount }

  /// Begins a run. The one before must be ended or dropped.
  @inlinable
  package mutating func begin(entry: UInt32, kind: RecordKind, version: UInt16) {
    precondition(start == nil, "A run is unfinished.")
    start = encoder.byteCount
    runCount = 0
    isRunOfMutations = kind == .mutations
    encoder.append(entry)
    encoder.append(0 as UInt64)
    encoder.append(version)
    encoder.append(kind.rawValue)
    encoder.append(0 as UInt8)
  }

  /// Appends a record to the unfinished run. If `encode` throws, the run is as it was.
  ///
  /// - Parameter encode: Appends the record's bytes, and nothing else.
  @inlinable
  package mutating func append<Failure: Error>(
    _ encode: (inout RecordEncoder) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(start != nil, "There is no run.")
    let lengthOffset = encoder.byteCount
    // One byte for the length, which is nearly always enough.
    encoder.append(0 as UInt8)
    do throws(Failure) {
      try encode(&encoder)
    } catch {
      encoder.truncate(to: lengthOffset)
      throw error
    }
    let length = encoder.byteCount &- lengthOffset &- 1
    if length < 0x80 {
      encoder.store(UInt8(truncatingIfNeeded: length), at: lengthOffset)
    } else {
      encoder.insertLength(of: length, at: lengthOffset)
    }
    runCount &+= 1
  }

  /// Ends the run, or drops it if it has no records.
  @inlinable
  package mutating func end() {
    guard let start else { preconditionFailure("There is no run.") }
    guard runCount > 0 else { return drop() }
    let byteCount = encoder.byteCount &- start &- RecordRun.headerSize
    encoder.store(UInt32(byteCount).littleEndian, at: start &+ 4)
    encoder.store(runCount.littleEndian, at: start &+ 8)
    if isRunOfMutations { mutationCount += runCount }
    runCount = 0
    self.start = nil
  }

  /// Removes the unfinished run.
  @inlinable
  package mutating func drop() {
    guard let start else { preconditionFailure("There is no run.") }
    encoder.truncate(to: start)
    runCount = 0
    self.start = nil
  }

  /// Returns the bytes of the ended runs, and begins anew. O(1). There must be no unfinished run.
  ///
  /// - Parameter buffer: As with ``init(reusing:)``.
  @inlinable
  package mutating func take(reusing buffer: consuming [UInt8] = []) -> [UInt8] {
    precondition(start == nil, "A run is unfinished.")
    let bytes = encoder.take()
    encoder = RecordEncoder(reusing: buffer)
    mutationCount = 0
    return bytes
  }
}

extension RecordEncoder {
  /// Replaces the one byte at `offset` by the varint of `length`, which needs several: moves what follows.
  @usableFromInline @inline(never)
  mutating func insertLength(of length: Int, at offset: Int) {
    var size = 1
    while length >> (7 * size) > 0 { size += 1 }
    reserve(size - 1)
    storage.copyBytes(in: (offset + 1)..<(offset + 1 + length), to: offset + size)
    for index in 0..<size {
      let bits = UInt8(truncatingIfNeeded: length >> (7 * index)) & 0x7F
      store(index == size - 1 ? bits : bits | 0x80, at: offset + index)
    }
    end += size - 1
  }
}
