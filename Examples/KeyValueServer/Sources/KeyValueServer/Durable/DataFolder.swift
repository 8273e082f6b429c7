import FoundationEssentials
import Glibc
import ReactorJournal
import ReactorRuntime
import Synchronization

/// The folder of `--data`: one journal for all shards, so that they share each wait for the disk.
///
/// The name of the file says how many shards there are, since a key's shard depends on their number.
final class DataFolder: Sendable {
  enum Failure: Error {
    case cannotMake(String)
    case severalJournals(String)
    case otherShards(found: Int, wanted: Int)
    case journal(path: String, JournalError)
  }

  let journal: Journal
  let shardCount: Int
  private let path: String
  /// After how many bytes of changes, at least, the journal is compacted.
  private let growth: Int
  private let compaction = Mutex(Compaction())

  private struct Compaction {
    var isRunning = false
    /// How many bytes of changes there had been when it was last tried.
    var tried = 0
    /// How many there had been before the last one that was made: those behind its snapshots are not counted.
    var written = 0
    /// About how many bytes the snapshots had after it, or at the start: two of each shard.
    var snapshots = 0
  }

  /// Opens the journal, or makes one.
  ///
  /// - Parameters:
  ///   - folder: Is made if it is missing.
  ///   - options: How many shards a new journal gets. An existing one has as many as it was made for; then another number must not
  ///     be asked for.
  init(_ folder: String, _ options: Options) throws {
    let isNew = mkdir(folder, 0o755) == 0
    guard isNew || errno == EEXIST else {
      throw Failure.cannotMake("\(folder): \(String(cString: strerror(errno)))")
    }
    // An older folder may be in one that this process must not read.
    if !Self.sync("\(folder)/.."), isNew || errno != EACCES {
      let reason = String(cString: strerror(errno))
      // Otherwise the next start would take it for an older one.
      if isNew { rmdir(folder) }
      throw Failure.cannotMake("\(folder): \(reason)")
    }
    let found = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap(Self.shardCount)
    if found.count > 1 { throw Failure.severalJournals(folder) }
    if let count = found.first, options.shards > 0, options.shards != count {
      throw Failure.otherShards(found: count, wanted: options.shards)
    }
    shardCount = found.first ?? options.shardCount
    path = "\(folder)/\(Self.name(for: shardCount))"
    growth = options.compactionGrowth
    var configuration = JournalConfiguration()
    // Only `compactIfGrown` makes snapshots. Not nil: the durable state is what they are made of.
    configuration.snapshotRecords = .max
    configuration.onFailure = { error in
      // Whether the last commands are on the disk is not known, so nobody is told: each client loses its connection, and the next
      // process reads what is there.
      Log.error("the journal has ended: \(error)")
      _exit(1)
    }
    do {
      journal = try Journal(at: path, configuration: configuration)
    } catch {
      throw Failure.journal(path: path, error)
    }
  }

  /// Makes the names in a folder durable. SQLite does so in the folder of the journal; without this, a power cut could take that
  /// folder itself. It is also called for a folder that exists, since the process that made it may have ended before it got here.
  ///
  /// - Returns: False if there is an error, which is in `errno`.
  private static func sync(_ folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    let result = fsync(descriptor)
    let error = errno
    close(descriptor)
    errno = error
    return result == 0
  }

  private static func name(for shardCount: Int) -> String { "shards-\(shardCount).journal" }

  /// The number in the name of a journal; nil for other files.
  private static func shardCount(_ name: String) -> Int? {
    guard name.hasPrefix("shards-"), name.hasSuffix(".journal") else { return nil }
    let count = Int(name.dropFirst("shards-".count).dropLast(".journal".count))
    // Only a name that this server makes: not "shards-0", not "shards-04".
    return count.flatMap { $0 > 0 && name == Self.name(for: $0) ? $0 : nil }
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  func makeShard(
    _ index: Int, on loop: Loop, _ visibility: Visibility, waiting limit: WaitingLimit
  ) -> DurableShard {
    DurableShard(on: loop, journal.entry("shard/\(index)"), visibility, waiting: limit)
  }

  /// Reads the keys. Before the server listens.
  func recover(_ shards: [DurableShard]) throws(Failure) {
    let start = ContinuousClock.now
    do {
      try journal.recover(shards)
    } catch {
      throw .journal(path: path, error)
    }
    for shard in shards { shard.endRecovery() }
    let snapshots = shards.reduce(0) { $0 + $1.withCurrentState { $0.snapshotSize } }
    compaction.withLock { $0.snapshots = 2 * snapshots }
    let keys = shards.reduce(0) { $0 + $1.withCurrentState { $0.entries.count } }
    Log.info("read \(keys) keys of \(shardCount) shards in \(start.duration(to: .now))")
  }

  /// Removes what was overwritten, once as many bytes of changes were written as the snapshots had after the last compaction, and
  /// `--compact-after`; also by earlier processes. So making snapshots writes no more than the changes do, and the size of the folder
  /// depends on the keys, but not on how often they were written, or on how often the server was started.
  func compactIfGrown(_ shards: [any Shard]) {
    let written = Self.written(by: shards)
    let begins = compaction.withLock { compaction in
      if compaction.isRunning || written - compaction.tried < max(growth, compaction.snapshots) {
        return false
      }
      (compaction.isRunning, compaction.tried) = (true, written)
      return true
    }
    if !begins { return }
    Task { [self] in
      do {
        let position = try await journal.compact()
        Log.info("compacted the journal up to position \(position)")
        let (size, writtenNow) = (Self.size(of: path), Self.written(by: shards))
        compaction.withLock { compaction in
          // The changes since the compaction before stay, since its snapshots do. Counted as well, each compaction would be later
          // than the one before.
          compaction.snapshots = max(0, size - (writtenNow - compaction.written))
          compaction.written = written
        }
      } catch {
        // It is tried again after as many commands: on a full disk, or if the keys of a shard are too large for a snapshot. What
        // else can fail has ended the journal.
        Log.warning("the journal was not compacted: \(error)")
      }
      compaction.withLock { $0.isRunning = false }
    }
  }

  private static func written(by shards: [any Shard]) -> Int {
    shards.reduce(0) { $0 + (($1 as? DurableShard)?.wasWritten ?? 0) }
  }
}

extension DataFolder.Failure: CustomStringConvertible {
  var description: String {
    switch self {
    case .cannotMake(let reason): "the folder cannot be made: \(reason)"
    case .severalJournals(let folder): "\(folder) has several journals; keep one of them"
    case .otherShards(let found, let wanted):
      "the keys are in \(found) shards, not \(wanted): leave --shard-count out"
    case .journal(let path, .locked): "\(path) is locked: another server has it open"
    case .journal(let path, let error): "\(path) cannot be read: \(error)"
    }
  }
}
