import Glibc
import ReactorCore
import Testing

@testable import ReactorJournal

/// What a store contains, as far as a test can see it.
struct StoreContents: Equatable {
  var base: UInt64 = 0
  var batches: [Batch] = []
  var entries: [JournalEntryRow] = []
  /// The newest two of each entry, newest first.
  var snapshots: [UInt32: [JournalSnapshot]] = [:]

  struct Batch: Equatable {
    var epoch: UInt64
    var first: UInt64
    var count: UInt32
    var bytes: [UInt8]
  }

  /// The position of the last record.
  var position: UInt64 {
    batches.last.map { $0.first + UInt64($0.count) - 1 } ?? base
  }

  /// Reads everything.
  init(of store: some JournalStore, end: JournalEnd) throws(JournalError) {
    base = end.base
    entries = end.entries
    var batches: [Batch] = []
    try store.readBatches(from: end.base + 1) { batch throws(JournalError) in
      batches.append(Batch(epoch: batch.epoch, first: batch.first, count: batch.count, bytes: batch.bytes))
      return true
    }
    self.batches = batches
    for entry in entries {
      let found = try store.readSnapshots(of: entry.number)
      if !found.isEmpty { snapshots[entry.number] = found }
    }
  }

  init() {}
}

/// One call of a store.
enum StoreStep {
  case open
  /// A commit of records of a size, with an entry that is new, with snapshots of entries, and with an entry that is retired.
  case commit(records: Int, size: Int, entry: UInt32? = nil, snapshots: [UInt32] = [], retired: UInt32? = nil)
  case remove(before: UInt64)
  case close

  /// Entries, small and large batches, snapshots alone and with records, removal, a second process, and entries that are retired.
  static let script: [StoreStep] = [
    .open, .commit(records: 1, size: 9, entry: 0), .commit(records: 3, size: 64, entry: 7),
    .commit(records: 2, size: 9, snapshots: [0]), .commit(records: 2, size: 5000, snapshots: [0]),
    .commit(records: 0, size: 0, snapshots: [7]), .commit(records: 1, size: 9, snapshots: [0, 7]),
    .remove(before: 7), .commit(records: 4, size: 700), .close, .open, .commit(records: 1, size: 9),
    .remove(before: 100), .commit(records: 2, size: 3000, snapshots: [7]),
    .commit(records: 1, size: 9, entry: 9, snapshots: [9]), .commit(records: 1, size: 9, retired: 7), .close,
    .open, .commit(records: 0, size: 0, retired: 9), .remove(before: 100),
    .commit(records: 0, size: 0, entry: 11), .commit(records: 0, size: 0, retired: 11),
    .commit(records: 1, size: 9),
    .close,
  ]
}

/// Performs steps on one file, and knows what it must contain after each.
final class StoreRun {
  let path: String
  private var store: SQLiteStore?
  /// The store's, which must outlive it.
  private var disk: Disk?
  private(set) var epoch: UInt64 = 0
  /// After the last step that returned.
  private(set) var confirmed = StoreContents()
  /// After the step that was tried last.
  private(set) var attempted = StoreContents()

  init(path: String) { self.path = path }

  /// Performs a step on a simulated disk, or on the real one. `attempted` is set before, and `confirmed` afterwards.
  func perform(_ step: StoreStep, on disk: Disk? = nil) throws(JournalError) {
    attempted = confirmed
    self.disk = disk
    switch step {
    case .open:
      let store = SQLiteStore(path: path, access: .readWrite, vfs: disk?.name, checkpointBytes: 10 * 4096)
      let end = try store.open()
      self.store = store
      epoch = end.epoch
    case .commit(let records, let size, let entry, let snapshots, let retired):
      try commit(records: records, size: size, entry: entry, snapshots: snapshots, retired: retired)
    case .remove(let position):
      while let batch = attempted.batches.first, batch.first + UInt64(batch.count) - 1 < position {
        attempted.base = batch.first + UInt64(batch.count) - 1
        attempted.batches.removeFirst()
      }
      attempted = attempted.withoutEntries(until: attempted.base)
      try store!.removeBatches(before: position)
    case .close:
      store!.close()
      store = nil
    }
    confirmed = attempted
  }

  private func commit(
    records: Int, size: Int, entry: UInt32?, snapshots: [UInt32], retired: UInt32?
  ) throws(JournalError) {
    let end = attempted.position
    var batch: JournalBatch?
    if records > 0 {
      let next = StoreRun.batch(epoch: epoch, first: end + 1, records: records, size: size)
      batch = next
      attempted.batches.append(
        .init(epoch: next.epoch, first: next.first, count: next.count, bytes: next.bytes))
    }
    var rows = entry.map { [JournalEntryRow(number: $0, name: "entry/\($0)", since: end)] } ?? []
    attempted.entries += rows
    if let retired, let index = attempted.entries.firstIndex(where: { $0.number == retired }) {
      // A store does not keep the first position.
      attempted.entries[index].since = 0
      attempted.entries[index].until = end
      attempted.snapshots[retired] = nil
      rows.append(attempted.entries[index])
      attempted = attempted.withoutEntries(until: attempted.base)
    }
    var images: [JournalSnapshot] = []
    for entry in snapshots {
      let image = StoreRun.image(of: entry, at: attempted.position)
      images.append(image)
      attempted.snapshots[entry, default: []].insert(image, at: 0)
      attempted.snapshots[entry]!.removeSubrange(min(2, attempted.snapshots[entry]!.count)...)
    }
    try store!.commit(batch, entries: rows, snapshots: images)
  }

  static func image(of entry: UInt32, at position: UInt64) -> JournalSnapshot {
    JournalSnapshot(
      entry: entry, position: position, version: 3,
      bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: position &+ UInt64(entry)), count: 300))
  }

  /// Records of entry 0, whose bytes depend on their positions.
  static func batch(epoch: UInt64, first: UInt64, records: Int, size: Int) -> JournalBatch {
    var writer = RecordRunWriter()
    writer.begin(entry: 0, kind: .mutations, version: 1)
    for index in 0..<records {
      writer.append { encoder in
        for byte in 0..<size {
          encoder.append(UInt8(truncatingIfNeeded: Int(first) &* 31 &+ index &* 7 &+ byte))
        }
      }
    }
    writer.end()
    return JournalBatch(epoch: epoch, first: first, count: UInt32(records), bytes: writer.take())
  }

  /// After a failure: what the store refuses, and that it is closed.
  func abandon() {
    if let store {
      let refused = #expect(throws: JournalError.self) {
        try store.commit(nil, entries: [], snapshots: [])
      }
      #expect(refused == .fenced)
      store.close()
    }
    store = nil
  }

  /// Closes the store as it is, however full the disk.
  func stop() {
    store?.close()
    store = nil
  }

  /// Opens what a failure left, and checks it: nothing that was confirmed is missing, and a step that failed is there as a
  /// whole or not at all. Only removal has several parts.
  ///
  /// - Parameters:
  ///   - path: The file, if it is on the real disk.
  ///   - mayHaveMore: Whether the step that failed may have had its effect.
  func check(
    on disk: Disk?, at path: String? = nil, mayHaveMore: Bool = true,
    _ context: @autoclosure () -> String
  ) {
    // The run may have the lock still, if this is a copy of its disk. A disk does not know folders.
    let folder = TemporaryFolder()
    // A store looks for it on real disks only.
    if let disk { #expect(!disk.hasLostCommits(), "\(context())") }
    let store = SQLiteStore(
      path: path ?? folder.file("journal"), access: .readWrite, vfs: disk?.name, checkpointBytes: 1 << 20)
    do throws(JournalError) {
      let end = try store.open()
      var found = try StoreContents(of: store, end: end)
      #expect(end.position == found.position, "\(context())")
      #expect(end.epoch > epoch, "\(context())")
      let base = found.base
      // What removal has taken is known from the base.
      if found.base >= confirmed.base, found.base <= attempted.base {
        let removed = confirmed.batches.prefix { $0.first + UInt64($0.count) - 1 <= found.base }
        found.batches.insert(contentsOf: removed, at: 0)
        found.base = confirmed.base
      }
      // A retired entry without records is removed after them.
      found = found.withoutEntries(until: base)
      let confirmed = confirmed.withoutEntries(until: base)
      var whole = attempted.withoutEntries(until: base)
      if attempted.base > confirmed.base {
        whole.base = confirmed.base
        whole.batches = confirmed.batches
      }
      let isRight = found == confirmed || mayHaveMore && found == whole
      #expect(isRight, "\(context()): \(found.summary); confirmed \(confirmed.summary)")
      // And it goes on.
      let next = StoreRun.batch(epoch: end.epoch, first: end.position + 1, records: 1, size: 9)
      try store.commit(next, entries: [], snapshots: [])
      // Before the store is closed, which would write everything once more.
      if let disk {
        let cut = disk.afterPowerCut([UInt32](repeating: 0, count: disk.unsyncedCount))
        let left = try Self.contents(of: cut)
        #expect(
          left == (try StoreContents(of: store, end: end)), "\(context()), then a power cut: \(left.summary)")
      }
    } catch {
      Issue.record("\(context()): \(error)")
    }
    store.close()
    withExtendedLifetime(disk) {}
  }

  private static func contents(of disk: Disk) throws(JournalError) -> StoreContents {
    let folder = TemporaryFolder()
    let store = SQLiteStore(
      path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 1 << 20)
    defer {
      store.close()
      withExtendedLifetime(disk) {}
    }
    return try StoreContents(of: store, end: try store.open())
  }
}

extension StoreContents {
  /// Without the retired entries whose records have positions up to `base`.
  func withoutEntries(until base: UInt64) -> StoreContents {
    var rest = self
    rest.entries.removeAll { $0.isRemovable(base: base) }
    return rest
  }

  /// What a failure prints.
  var summary: String {
    "base \(base), batches \(batches.map { "\($0.epoch):\($0.first)+\($0.count)" }), entries \(entries.map(\.number)), "
      + "snapshots \(snapshots.mapValues { $0.map(\.position) })"
  }
}

/// A folder for the files of a test, which is removed at its end.
final class TemporaryFolder {
  let path: String

  init() {
    var template = Array("/tmp/reactor-journal-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
  }

  deinit {
    for name in names { unlink(path + "/" + name) }
    rmdir(path)
  }

  /// The files in it.
  var names: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(cString: $0.bindMemory(to: CChar.self).baseAddress!)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func file(_ name: String) -> String { path + "/" + name }
}
