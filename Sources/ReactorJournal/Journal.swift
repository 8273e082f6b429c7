import Dispatch
import ReactorCore
import ReactorRuntime
import Synchronization

/// Keeps the mutations of its ``DurableReactor``s, in one order, and gives their states back after a crash.
///
/// One thread, the committer, writes what the reactors' turns have handed over meanwhile, as one group. Only then it
/// shows the durable states, and releases what the turns have to do at their end: see ``Visibility``.
///
/// Any error but a full disk ends the journal for good, since it is not known what a file contains after an error: its
/// reactors are closed, and each waiting sender gets a ``DurabilityError``. Start the process again then.
///
/// Close it: ``beginClosing()``, ``finishClosing(before:)``, or `Shutdown.close`. That closes its reactors as well.
public final class Journal: Sendable {
  let store: any JournalStore
  let configuration: JournalConfiguration
  let mark: ReplayMark?
  /// The store, and what the log contains. Held during each commit and each recovery.
  let log: SystemMutex<Log>
  let work = SystemMutex(Work())
  let members = SystemMutex(Members())
  let snapshots = SystemMutex(SnapshotQueue())
  /// Whether the committer must take the work.
  let hasWork = Atomic(false)
  /// The token of the committer's thread, so that this does not wait for itself.
  let committer = Atomic<UInt64>(0)
  let wake: EventCount
  /// Where the first `sendDurably` of a reactor reads the log. One at a time: each holds the lock of the log.
  let recoveries = DispatchQueue(label: "reactor-recovery")
  let failureStore = SystemMutex(Failure())

  /// Why the journal has ended.
  struct Failure: Sendable {
    /// The first error; nil if there is none.
    private(set) var reason: JournalError?
    /// Whether the members were told.
    var isAnnounced = false

    /// Notes an error unless there is an earlier one, and returns the first one.
    mutating func note(_ error: JournalError) -> JournalError {
      let first = reason ?? error
      reason = first
      return first
    }
  }

  /// The members whose reactors were used, also for a while those whose reactors are gone. Not weak: that would slow down each use of a
  /// member.
  struct Members: Sendable {
    /// Of each entry, the member whose reactor was first used most recently.
    private(set) var byNumber: [UInt32: JournalMember] = [:]
    /// Those that others wait for, until their reactors are known to be gone: until then, something of them may be pending.
    private var replaced: [ObjectIdentifier: JournalMember] = [:]
    /// With how many members those are looked for whose reactors are gone.
    private var limit = 64
    /// Entries of which no reactor may start, since they are to be retired with one of the next commits.
    private var retiring: Set<UInt32> = []
    /// Whether the journal has ended, and nothing more is added: a member retains the journal, and nobody would remove it.
    private var isOver = false

    /// Adds a member whose reactor is used for the first time, unless it is there, or the journal has ended. It waits for the last one
    /// of its entry that was added before. O(1) on average: the gone ones are removed whenever there are twice as many members as stayed
    /// the last time.
    ///
    /// - Returns: The members among which the caller must find the gone ones, for ``removeAll(gone:)``; mostly none. Outside of the
    ///   lock: a weak reference that is loaded may become the last one, and the end of a reactor may use the journal.
    mutating func add(_ member: JournalMember, _ reactor: any AnyObject & Sendable) -> [JournalMember] {
      if isOver || member.isOut || contains(member) { return [] }
      var candidates: [JournalMember] = []
      if byNumber.count + replaced.count >= limit {
        candidates = all
        limit = .max
      }
      member.noteUse(by: reactor)
      if let earlier = byNumber.updateValue(member, forKey: member.entry.number) {
        replaced[ObjectIdentifier(earlier)] = earlier
        member.predecessor.withLock { $0 = earlier }
      }
      return candidates
    }

    func contains(_ member: JournalMember) -> Bool {
      byNumber[member.entry.number] === member || replaced[ObjectIdentifier(member)] != nil
    }

    /// Removes those of the candidates that are gone. Their entries may have new members.
    mutating func removeAll(gone: [JournalMember]) {
      for member in gone { remove(member) }
      limit = max(64, 2 * (byNumber.count + replaced.count))
    }

    /// Removes one that is gone.
    mutating func remove(_ gone: JournalMember) {
      let number = gone.entry.number
      if byNumber[number] === gone { byNumber[number] = nil }
      replaced[ObjectIdentifier(gone)] = nil
    }

    /// Removes one whose reactor has not started: what has waited for it waits for the one before it.
    ///
    /// - Parameter isOut: Whether it is never added again.
    mutating func withdraw(_ member: JournalMember, isOut: Bool) {
      if isOut { member.isOut = true }
      let earlier = member.predecessor.withLock { $0.take() }
      let number = member.entry.number
      if byNumber[number] === member {
        byNumber[number] = earlier
        if let earlier { replaced[ObjectIdentifier(earlier)] = nil }
        return
      }
      replaced[ObjectIdentifier(member)] = nil
      var later = byNumber[number]
      while let waiting = later {
        later = waiting.predecessor.withLock { predecessor in
          if predecessor === member { predecessor = earlier }
          return predecessor
        }
      }
    }

    /// Those with some numbers.
    func all(of numbers: Set<UInt32>) -> [JournalMember] {
      numbers.compactMap { byNumber[$0] } + replaced.values.filter { numbers.contains($0.entry.number) }
    }

    /// Lets no reactor start with some entries, unless somebody else is retiring one of them. Returns whether nobody is.
    mutating func tryBeginRetiring(_ numbers: Set<UInt32>) -> Bool {
      guard retiring.isDisjoint(with: numbers) else { return false }
      retiring.formUnion(numbers)
      return true
    }

    /// Lets reactors start with them again.
    mutating func cancelRetiring(_ numbers: Set<UInt32>) { retiring.subtract(numbers) }

    func isRetiring(_ number: UInt32) -> Bool { retiring.contains(number) }

    /// Removes those of entries that are retired, and returns them, with those that they have waited for.
    mutating func removeAll(of numbers: Set<UInt32>) -> [JournalMember] {
      let removed = all(of: numbers)
      var earlier: [JournalMember] = []
      for member in removed {
        // It may have read its state before, and be about to start.
        member.isOut = true
        remove(member)
        // Nobody would let it go on.
        if let predecessor = member.predecessor.withLock({ $0.take() }) { earlier.append(predecessor) }
      }
      retiring.subtract(numbers)
      return removed + earlier
    }

    /// Removes all of them, at the end of the journal.
    mutating func removeAll() { (byNumber, replaced, isOver) = ([:], [:], true) }

    /// All of them.
    var all: [JournalMember] { Array(byNumber.values) + replaced.values }
  }

  /// Opens a journal in a file, which it makes if it is not there; its folder must exist, on a file system of this machine. A few
  /// other files are beside it, with the same beginning of their names.
  ///
  /// - Throws: ``JournalError``: another process has it open, its end is not what was written, or the disk is full.
  public convenience init(
    at path: String, configuration: JournalConfiguration = JournalConfiguration()
  ) throws(JournalError) {
    let store = SQLiteStore(path: path)
    try self.init(store: store, markPath: store.path + "-replay", configuration)
  }

  /// Opens a journal in a store of your own.
  ///
  /// - Throws: ``JournalError``: another process has it open, its end is not what was written, or the disk is full.
  public convenience init(
    store: any JournalStore, configuration: JournalConfiguration = JournalConfiguration()
  ) throws(JournalError) {
    try self.init(store: store, markPath: nil, configuration)
  }

  /// - Parameter markPath: The file that notes which record is being replayed; nil if nothing does.
  package init(
    store: any JournalStore, markPath: String?, _ configuration: JournalConfiguration
  ) throws(JournalError) {
    configuration.check()
    do { wake = try EventCount() } catch {
      throw .failed(code: 0, message: "no memory")
    }
    self.store = store
    self.configuration = configuration
    log = SystemMutex(Log(end: try store.open()))
    // Behind the store's lock: the mark belongs to the process that has the store open.
    do throws(JournalError) {
      mark = try markPath.map { path throws(JournalError) in
        try ReplayMark(path: path, retries: configuration.replaysTrappedRecords)
      }
    } catch {
      store.close()
      throw error
    }
    _ = DedicatedThread(named: "reactor-journal") { [self] in runCommitter() }
  }

  /// A reactor's place in the journal. Give it to the reactor's `Runtime`.
  ///
  /// - Parameter name: As long as a reactor has the same name, it gets its state back. One reactor at a time may use it: the start of
  ///   another one waits until the earlier one is gone and what it has handed over is durable. If the earlier one stays for five seconds,
  ///   without the time that commits take, or for ten minutes while it starts, the recovery of the other one throws
  ///   ``JournalError/inUse(entry:)``, ``DurableReactor/sendDurably(_:id:)`` throws a ``DurabilityError`` with that, and any other first use
  ///   stops the program.
  public func entry(_ name: String) -> JournalEntry {
    log.withLock { log in
      if let row = log.row(named: name) { return JournalEntry(journal: self, row) }
      let row = log.add(name)
      // An entry that was retired may have had the number.
      mark?.forget(row.number)
      return JournalEntry(journal: self, row)
    }
  }

  /// The names of all entries, in the order in which they were added: to find the reactors that were never started since this program
  /// began, which keep the records of all (<doc:Durability#Limits>). Any thread. O(n log n). Waits for a commit that is running.
  public var entryNames: [String] {
    log.withLock { $0.rows.values }.sorted { $0.number < $1.number }.map(\.name)
  }

  /// The position of the last durable record. Any thread. Waits for a commit that is running.
  public var durablePosition: UInt64 { log.withLock { $0.end.position } }

  /// Why the journal has ended; nil if it has not. Any thread.
  public var failure: JournalError? { failureStore.withLock { $0.reason } }

  /// Notes that the reactors of members are about to be used for the first time: one with the same entry that is used later waits until
  /// they are gone. Does nothing the next time. At once for all of them: otherwise two threads with several each could wait for each other.
  /// Any thread.
  func addMembers(_ added: [(member: JournalMember, reactor: any AnyObject & Sendable)]) {
    let candidates = members.withLock { members in added.flatMap { members.add($0.member, $0.reactor) } }
    if candidates.isEmpty { return }
    let gone = candidates.filter(\.isGone)
    members.withLock { $0.removeAll(gone: gone) }
  }

  /// Whether no other reactor with the entry of a member was used since. Any thread.
  func isLastUser(_ member: JournalMember) -> Bool {
    members.withLock { $0.byNumber[member.entry.number] === member }
  }

  /// The members whose reactors were used and may exist.
  var currentMembers: [JournalMember] { members.withLock { $0.all } }
}

/// A reactor's place in a ``Journal``: see ``Journal/entry(_:)``.
public struct JournalEntry: Sendable {
  let journal: Journal
  @usableFromInline let number: UInt32
  public let name: String

  init(journal: Journal, _ row: JournalEntryRow) {
    self.journal = journal
    (number, name) = (row.number, row.name)
  }
}
