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
  /// The members, also for a while those whose reactors are gone. Not weak: that would slow down each use of a member.
  let members = SystemMutex<[UInt32: JournalMember]>([:])
  /// Whether the committer must take the work.
  let hasWork = Atomic(false)
  let wake: EventCount
  let failureStore = SystemMutex<JournalError?>(nil)

  /// What the log contains. The thread that holds the lock.
  struct Log: Sendable {
    var end: JournalEnd
    /// Entries that the store does not know yet.
    var newEntries: [JournalEntryRow] = []
    /// The positions of the snapshots that the store keeps of an entry, as far as that is known; the older one first.
    var stored: [UInt32: [UInt64]] = [:]
    var isOpen = true
  }

  /// Opens a journal in a file, which it makes if it is not there. A few other files are beside it, with the same beginning of
  /// their names.
  ///
  /// - Throws: ``JournalError``: another process has it open, or its end is not what was written.
  public convenience init(
    at path: String, configuration: JournalConfiguration = JournalConfiguration()
  ) throws(JournalError) {
    let mark = ReplayMark(path: path + "-replay", retries: configuration.replaysTrappedRecords)
    try self.init(store: SQLiteStore(path: path), mark: mark, configuration)
  }

  /// Opens a journal in a store of your own.
  ///
  /// - Throws: ``JournalError``: another process has it open, or its end is not what was written.
  public convenience init(
    store: any JournalStore, configuration: JournalConfiguration = JournalConfiguration()
  ) throws(JournalError) {
    try self.init(store: store, mark: nil, configuration)
  }

  /// - Parameter mark: Notes which record is being replayed.
  package init(
    store: any JournalStore, mark: ReplayMark?, _ configuration: JournalConfiguration
  ) throws(JournalError) {
    do { wake = try EventCount() } catch {
      throw .failed(code: 0, message: "no memory")
    }
    self.store = store
    self.mark = mark
    self.configuration = configuration
    log = SystemMutex(Log(end: try store.open()))
    _ = DedicatedThread(named: "reactor-journal") { [self] in runCommitter() }
  }

  /// A reactor's place in the journal. Give it to the reactor's `Runtime`.
  ///
  /// - Parameter name: As long as a reactor has the same name, it gets its state back. One reactor at a time may use it.
  public func entry(_ name: String) -> JournalEntry {
    log.withLock { log in
      if let row = (log.end.entries + log.newEntries).first(where: { $0.name == name }) {
        return JournalEntry(journal: self, row)
      }
      let number = (log.end.entries + log.newEntries).map(\.number).max().map { $0 + 1 } ?? 1
      let row = JournalEntryRow(number: number, name: name, since: log.end.position)
      log.newEntries.append(row)
      return JournalEntry(journal: self, row)
    }
  }

  /// The position of the last durable record. Any thread. Waits for a commit that is running.
  public var durablePosition: UInt64 { log.withLock { $0.end.position } }

  /// Why the journal has ended; nil if it has not. Any thread.
  public var failure: JournalError? { failureStore.withLock { $0 } }

  func addMember(_ entry: JournalEntry, _ visibility: Visibility) -> JournalMember {
    let member = JournalMember(self, entry, visibility)
    let replaced = members.withLock { members in
      // Those whose reactors are gone.
      let gone = members.filter { $0.value.isGone }
      for number in gone.keys { members[number] = nil }
      let other = members.updateValue(member, forKey: entry.number)
      precondition(other?.bound == nil, useTwice(entry))
      return (gone, other)
    }
    // Not under the lock: this may destroy them.
    withExtendedLifetime(replaced) {}
    return member
  }

  /// Stops the program if a reactor is started whose entry another one uses.
  func checkUse(by member: JournalMember) {
    precondition(members.withLock { $0[member.entry.number] } === member, useTwice(member.entry))
  }

  private func useTwice(_ entry: JournalEntry) -> String {
    """
    Problem: two reactors use the entry "\(entry.name)" of a journal.
    Likely cause: the reactor was made twice.
    Remedy: give each reactor an entry of its own.
    """
  }

  /// The members whose reactors may exist.
  var currentMembers: [JournalMember] { members.withLock { Array($0.values) } }
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
