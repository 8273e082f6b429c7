import ReactorCore

/// What the records and snapshots of a reactor mean: a name, a version, and how older versions are read.
public struct Schema: Sendable {
  /// Turns the bytes of a record of one version into those of the next.
  public typealias Upcaster = @Sendable ([UInt8]) throws -> [UInt8]

  public let name: String
  /// The version that is written.
  public let version: UInt16
  /// The oldest version that can be read.
  public let oldest: UInt16
  /// For some versions, what turns a record of that version into one of the next.
  public let upcasters: [UInt16: Upcaster]

  /// - Parameters:
  ///   - name: For people; it may change.
  ///   - version: Increase it when the records or snapshots change.
  ///   - oldest: The oldest version that can be read: by upcasters, and by ``JournalRecord/init(from:version:)``, which is given
  ///     the version at which the upcasters have arrived. The default is `version`, or the oldest version with an upcaster.
  ///   - upcasters: For the versions before `version`; a record goes through all of them from its own version on, as far as
  ///     there is one for each version.
  public init(
    _ name: String, version: UInt16 = 1, readsFrom oldest: UInt16? = nil, upcasters: [UInt16: Upcaster] = [:]
  ) {
    self.name = name
    self.version = version
    self.oldest = oldest ?? min(version, upcasters.keys.min() ?? version)
    self.upcasters = upcasters
  }

  /// Whether a record of that version can be read.
  @inlinable
  public func reads(_ version: UInt16) -> Bool { version >= oldest && version <= self.version }

  /// Throws unless what an entry has with that version can be read.
  @usableFromInline
  func check(
    _ version: UInt16, of entry: @autoclosure () -> String, at position: UInt64
  ) throws(JournalError) {
    if !reads(version) { throw .unknownVersion(entry: entry(), version: version, position: position) }
  }

  /// Reads a record of a version that ``reads(_:)``.
  @inlinable
  @inline(__always)
  func decode<Record: JournalRecord>(
    _: Record.Type, _ record: RawSpan, _ version: UInt16
  ) throws(MalformedRecord) -> Record {
    if version != self.version { return try decodeOlder(Record.self, record, version) }
    var decoder = RecordDecoder(record)
    return try Record(from: &decoder, version: version)
  }

  @usableFromInline
  @inline(never)
  func decodeOlder<Record: JournalRecord>(
    _: Record.Type, _ record: RawSpan, _ version: UInt16
  ) throws(MalformedRecord) -> Record {
    let (bytes, version) = try upcast([UInt8](copying: record), from: version)
    var decoder = RecordDecoder(bytes.span.bytes)
    return try Record(from: &decoder, version: version)
  }

  /// Brings the bytes of a record to a newer version.
  private func upcast(_ bytes: [UInt8], from version: UInt16) throws(MalformedRecord) -> ([UInt8], UInt16) {
    var (bytes, version) = (bytes, version)
    while version < self.version, let upcaster = upcasters[version] {
      do { bytes = try upcaster(bytes) } catch { throw MalformedRecord("\(error)") }
      version += 1
    }
    return (bytes, version)
  }
}
