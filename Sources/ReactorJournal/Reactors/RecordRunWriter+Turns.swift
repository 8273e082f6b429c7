/// Several turns of a reactor are one run.
extension RecordRunWriter {
  /// Whether there is one ended run, of mutations, and nothing else.
  package var hasOneRun: Bool {
    guard start == nil, mutationCount > 0 else { return false }
    var decoder = RecordDecoder(encoder.storage.span.bytes)
    guard let header = try? RunHeader(&decoder) else { return false }
    return encoder.byteCount == RecordRun.headerSize + Int(header.byteCount)
  }

  /// Appends the records of the one run to the last run of `bytes`, if that has the same entry and version.
  ///
  /// - Parameter run: Where that run begins.
  /// - Returns: False if it is another entry or version; then nothing is appended.
  package func tryAppendRun(to bytes: inout [UInt8], continuing run: Int) -> Bool {
    var their = RecordDecoder(bytes.span.bytes.extracting(run..<bytes.count))
    var mine = RecordDecoder(encoder.storage.span.bytes)
    guard let theirs = try? RunHeader(&their), let mine = try? RunHeader(&mine), theirs.isContinued(by: mine)
    else {
      return false
    }
    bytes.append(contentsOf: encoder.storage[RecordRun.headerSize..<encoder.byteCount])
    var span = bytes.mutableSpan
    var raw = span.mutableBytes
    raw.storeBytes(
      of: (theirs.byteCount + mine.byteCount).littleEndian, toByteOffset: run + 4, as: UInt32.self)
    raw.storeBytes(of: (theirs.count + mine.count).littleEndian, toByteOffset: run + 8, as: UInt32.self)
    return true
  }

  /// Appends all ended runs to `bytes`.
  package func appendRuns(to bytes: inout [UInt8]) {
    precondition(start == nil, "A run is unfinished.")
    bytes.append(contentsOf: encoder.storage[0..<encoder.byteCount])
  }

  /// Removes everything, and keeps the memory, unless it is much: a reactor may have one large turn, and there may be many reactors.
  package mutating func clear() {
    var memory: [UInt8] = []
    if encoder.storage.count <= Self.largestKeptBuffer { swap(&memory, &encoder.storage) }
    self = RecordRunWriter(reusing: memory)
  }

  private static var largestKeptBuffer: Int { 64 << 10 }
}

/// The header of a run.
private struct RunHeader {
  let entry: UInt32
  let byteCount: UInt32
  let count: UInt32
  let version: UInt16
  let kind: UInt8

  init(_ decoder: inout RecordDecoder) throws(MalformedRecord) {
    entry = try decoder.read()
    byteCount = try decoder.read()
    count = try decoder.read()
    version = try decoder.read()
    kind = try decoder.read()
  }

  func isContinued(by other: RunHeader) -> Bool {
    entry == other.entry && version == other.version && kind == other.kind
  }
}
