import Dispatch
import ReactorCore
import ReactorJournal

/// A store that keeps everything in memory, for tests of services. What was committed is there again when the same object is opened
/// by another `Journal`.
///
/// Commits can be held back, made to fail, and limited in size. Any thread may use these switches.
public final class InMemoryStore: JournalStore {
  fileprivate struct Contents: Sendable {
    var isOpen = false
    /// Whether the process was killed that had opened it last, and how often that has happened.
    var isKilled = false
    var kills = 0
    var base: UInt64 = 0
    var epoch: UInt64 = 0
    var entries: [JournalEntryRow] = []
    var batches: [JournalBatch] = []
    var snapshots: [JournalSnapshot] = []
    /// Those that the journal could not use. Kept until another one replaces them.
    var useless: [JournalSnapshot] = []
    var capacity = Int.max
    var largestSnapshot = Int.max
    var error: JournalError?
    var writesBeforeError = false
    var commits = 0
    var isHeld = false
    var waiting = 0

    var position: UInt64 { batches.last.map { $0.first + UInt64($0.count) - 1 } ?? base }
    var byteCount: Int {
      batches.reduce(0) { $0 + $1.bytes.count } + snapshots.reduce(0) { $0 + $1.bytes.count }
    }
  }

  fileprivate let contents = SystemMutex(Contents())
  private let gate = DispatchSemaphore(value: 0)

  public init() {}

  // MARK: Switches

  /// Makes each commit wait, after it has begun, until ``release()``.
  public func hold() { contents.withLock { $0.isHeld = true } }

  /// Lets the commits continue that wait.
  public func release() {
    let waiting = contents.withLock { contents in
      contents.isHeld = false
      defer { contents.waiting = 0 }
      return contents.waiting
    }
    for _ in 0..<waiting { gate.signal() }
  }

  /// Makes the next commit throw.
  ///
  /// - Parameter writes: Whether the commit has written its batch all the same.
  public func failNextCommit(_ error: JournalError, butWrites writes: Bool = false) {
    contents.withLock { ($0.error, $0.writesBeforeError) = (error, writes) }
  }

  /// How many bytes of records and snapshots there is room for. A commit for which there is no room throws
  /// `JournalError.diskFull`.
  public var capacity: Int {
    get { contents.withLock { $0.capacity } }
    set { contents.withLock { $0.capacity = newValue } }
  }

  public var largestSnapshot: Int {
    get { contents.withLock { $0.largestSnapshot } }
    set { contents.withLock { $0.largestSnapshot = newValue } }
  }

  /// How many bytes of records and snapshots there are.
  public var byteCount: Int { contents.withLock { $0.byteCount } }

  /// How many commits have begun.
  public var commitCount: Int { contents.withLock { $0.commits } }

  /// The batches that are there.
  public var batches: [JournalBatch] {
    get { contents.withLock { $0.batches } }
    set { contents.withLock { $0.batches = newValue } }
  }

  /// The snapshots that are there, the oldest first.
  public var snapshots: [JournalSnapshot] {
    get { contents.withLock { $0.snapshots } }
    set { contents.withLock { $0.snapshots = newValue } }
  }

  /// A store with the first `count` batches of this one, which nobody has open. Entries that were retired since are retired there, too.
  public func prefix(_ count: Int) -> InMemoryStore {
    let other = InMemoryStore()
    let contents = contents.withLock { $0 }
    other.contents.withLock { new in
      new.base = contents.base
      // The next process must not have an epoch that a batch has.
      new.epoch = contents.epoch
      new.entries = contents.entries
      new.batches = Array(contents.batches.prefix(count))
      new.snapshots = contents.snapshots.filter { $0.position <= new.position }
    }
    return other
  }

  /// Forgets that it is open, as when a process is killed. Any thread.
  ///
  /// The journal that had it open goes on in this process: the records that it commits from now on, or is just committing, are not
  /// written, and the commit throws `JournalError.fenced`. While another one has the store open, do not close that journal, since a third
  /// one could open the store then, and let it neither make snapshots nor compact.
  public func crash() {
    contents.withLock { contents in
      contents.isOpen = false
      contents.isKilled = true
      contents.kills += 1
    }
  }

  // MARK: The store

  public func open() throws(JournalError) -> JournalEnd {
    let end = contents.withLock { contents -> JournalEnd? in
      if contents.isOpen { return nil }
      contents.isOpen = true
      contents.isKilled = false
      contents.epoch += 1
      return JournalEnd(
        base: contents.base, position: contents.position, epoch: contents.epoch, entries: contents.entries)
    }
    guard let end else { throw .locked }
    return end
  }

  public func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError) {
    let (mustWait, kills) = contents.withLock { contents in
      contents.commits += 1
      if contents.isHeld { contents.waiting += 1 }
      return (contents.isHeld, contents.kills)
    }
    if mustWait { gate.wait() }
    let error = contents.withLock { contents -> JournalError? in
      // The process was killed, perhaps while this waited. The error is for the next one's commit.
      if contents.isKilled || contents.kills != kills { return .fenced }
      if let batch, batch.epoch < contents.epoch { return .fenced }
      let error = contents.error
      contents.error = nil
      if let error, !contents.writesBeforeError { return error }
      let size = (batch?.bytes.count ?? 0) + snapshots.reduce(0) { $0 + $1.bytes.count }
      if size > contents.capacity - contents.byteCount { return error ?? .diskFull }
      if let batch {
        if batch.first != contents.position + 1 { return .gap(position: contents.position + 1) }
        contents.batches.append(batch)
      }
      for entry in entries { contents.put(entry) }
      for snapshot in snapshots { contents.keep(snapshot) }
      return error
    }
    if let error { throw error }
  }

  public func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError) {
    let (base, batches) = contents.withLock { ($0.base, $0.batches) }
    if first <= base { throw .gap(position: first) }
    var next = base + 1
    var epoch: UInt64 = 0
    for batch in batches {
      if batch.first != next { throw .gap(position: next) }
      if batch.epoch < epoch { throw .epochWentBack(position: batch.first) }
      (next, epoch) = (batch.first + UInt64(batch.count), batch.epoch)
      if next > first, try !body(batch) { return }
    }
  }

  public func readSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot] {
    contents.withLock { $0.snapshots.filter { $0.entry == entry }.sorted { $0.position > $1.position } }
  }

  /// Sixteen at a time, so that a test with few records has several steps.
  public func removeSomeBatches(before position: UInt64) throws(JournalError) -> Bool {
    contents.withLock { contents in
      let removed = contents.batches.prefix(16).prefix { $0.first + UInt64($0.count) <= position }
      guard let last = removed.last else {
        contents.entries.removeAll { $0.isRemovable(base: contents.base) }
        return false
      }
      contents.base = last.first + UInt64(last.count) - 1
      contents.batches.removeFirst(removed.count)
      return true
    }
  }

  public func noteUseless(_ snapshot: JournalSnapshot) {
    contents.withLock { $0.useless.append(snapshot) }
  }

  public func close() { contents.withLock { $0.isOpen = false } }
}

extension InMemoryStore.Contents {
  /// Adds an entry, or replaces one that is retired.
  fileprivate mutating func put(_ entry: JournalEntryRow) {
    guard entry.isRetired else { return entries.append(entry) }
    snapshots.removeAll { $0.entry == entry.number }
    useless.removeAll { $0.entry == entry.number }
    entries.removeAll { $0.number == entry.number }
    if !entry.isRemovable(base: base) { entries.append(entry) }
  }

  /// Adds a snapshot, and keeps one older one of its entry.
  fileprivate mutating func keep(_ snapshot: JournalSnapshot) {
    let older = snapshots.filter { $0.entry == snapshot.entry && !useless.contains($0) }
      .max { $0.position < $1.position }
    useless.removeAll { $0.entry == snapshot.entry }
    snapshots.removeAll { $0.entry == snapshot.entry }
    if let older { snapshots.append(older) }
    snapshots.append(snapshot)
  }
}
