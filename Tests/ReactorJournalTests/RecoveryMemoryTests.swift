import Foundation
import ReactorJournal
import ReactorRuntime
import TestSupport
import Testing

/// How much memory a recovery needs besides the state.
@Suite struct RecoveryMemoryTests {
  /// A reactor with large records.
  private final class Blobs: DurableReactor {
    struct Blob: JournalRecord {
      static let size = 1 << 16
      let bytes: [UInt8]

      init(filledWith byte: UInt8) { bytes = [UInt8](repeating: byte, count: Self.size) }

      func encode(into encoder: inout RecordEncoder) { encoder.append(bytes) }
      init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
        bytes = try decoder.readBytes()
      }
    }

    struct State: Codable, Sendable {
      var count = 0
      var sum = 0
    }

    static let schema = Schema("blobs")
    let initialState = State()
    let runtime: Runtime<Blob, Blob, State>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("blobs")) }

    func mutate(action: Blob) -> Observable<Blob> { .just(action) }

    func reduce(into state: inout State, mutation: Blob) {
      state.count += 1
      state.sum += mutation.bytes.count
    }
  }

  private static func makeJournal(_ path: String) throws -> Journal {
    var configuration = JournalConfiguration()
    configuration.snapshotRecords = nil
    // So that the log is long beside a batch, though it is short.
    (configuration.bufferBytes, configuration.commitBytes) = (1 << 16, 1 << 16)
    return try Journal(at: path, configuration: configuration)
  }

  private static func write(_ count: Int, _ path: String) throws {
    let journal = try makeJournal(path)
    let blobs = Blobs(journal)
    for number in 0..<count { blobs.send(Blobs.Blob(filledWith: UInt8(truncatingIfNeeded: number))) }
    try Shutdown.close([journal], before: .now + .seconds(patience))
  }

  private static func recover(_ count: Int, _ path: String) throws {
    let journal = try makeJournal(path)
    let blobs = Blobs(journal)
    try blobs.recover()
    #expect(blobs.currentState.sum == count * Blobs.Blob.size)
    try journal.end()
  }

  /// The most memory that this process had since it was last reset, in bytes.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber))) * 1024
  }

  @Test func `A recovery holds a few batches in memory, however long the log is`() async throws {
    let folder = TemporaryFolder()
    let paths = [folder.file("short"), folder.file("long")]
    try Self.write(4, paths[0])
    try Self.write(320, paths[1])
    // In a process of its own, so that it is this memory.
    await #expect(processExitsWith: .success) { [paths = paths as [String]] in
      // Code is loaded, and what is there only once.
      try Self.recover(4, paths[0])
      try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
      let before = try Self.peak()
      try Self.recover(320, paths[1])
      // The log has 20 MiB. SQLite caches 8 of them.
      #expect(try Self.peak() - before < 12 << 20)
    }
  }
}
