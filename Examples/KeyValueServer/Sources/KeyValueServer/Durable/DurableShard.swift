import ReactorJournal
import ReactorRuntime
import Synchronization

/// A shard whose keys are in a journal.
///
/// ```
///  work ─▶ turn: run the commands, record those that write ─▶ commit ─▶ the replies leave
///             └── commands that only read see the latest keys; their replies wait for what they may have seen
/// ```
///
/// `mutate` decides whether a work writes. Its change is the one mutation; `reduce` runs it, which also makes the replies. In a
/// replay there is no work, and the same commands change the keys in the same way: they read no clock and no order of hashes.
final class DurableShard: Shard, DurableReactor {
  enum Action: Sendable {
    case run(Work, Reply<Void>)
    case unsubscribe(Int, [Key])
    case expire(Int64, Reply<Bool>)
  }

  static let schema = Schema("keyspace")
  /// The largest argument of a command, in bytes.
  static let largestArgument = 64 << 20
  /// What one work may write, in bytes: a large argument, and smaller ones beside it.
  static let largestChange = largestArgument + (1 << 20)

  let initialState = Keyspace()
  let runtime: Runtime<Action, KeyspaceChange, Keyspace>
  private let channels: LoopBound<Channels>
  private let written = Atomic(0)
  /// Whether the journal is being read.
  private let isRecovering = Atomic(true)
  /// How many keys have expired in the replay of the journal.
  private let replayed = Atomic(0)
  /// The latest time at which a work was run, also one that only reads and so leaves no trace in the keys.
  private let latest: LoopBound<Int64>

  /// - Parameters:
  ///   - loop: Runs the commands.
  ///   - entry: Has the keys.
  ///   - visibility: Whether replies wait for the disk.
  ///   - limit: How much may wait. No loop waits here while the disk is slow.
  init(on loop: Loop, _ entry: JournalEntry, _ visibility: Visibility, waiting limit: WaitingLimit) {
    runtime = Runtime(
      on: .loop(loop), journal: entry, visibility: visibility, capacity: limit.capacity(upTo: 32_768),
      reentrantCapacity: limit.most)
    channels = LoopBound(Channels(), to: loop)
    latest = LoopBound(0, to: loop)
  }

  // MARK: Any thread

  func submit(_ work: Work) {
    ask(
      { .run(work, $0) },
      completion: { result in
        // Otherwise the journal has ended, and the process is about to; or the shard has. Nobody may be told that it is done.
        if case .success = result { Deliveries.deliver(work) } else { Deliveries.refuse(work) }
      })
  }

  func unsubscribe(_ client: Int, from channels: [Key]) { send(.unsubscribe(client, channels)) }

  func expire(at now: Int64, _ completion: @escaping @Sendable (Bool) -> Void) {
    ask({ .expire(now, $0) }, completion: { completion((try? $0.get()) ?? false) })
  }

  func readCounts() -> KeyCounts? {
    var counts = withCurrentState { $0.counts }
    counts.expired -= replayed.load(ordering: .relaxed)
    return counts
  }

  /// Begins to count the keys that expire, and the changes that are new. Once the journal was read, before the server listens.
  func endRecovery() {
    replayed.store(withCurrentState { $0.expired }, ordering: .relaxed)
    isRecovering.store(false, ordering: .relaxed)
  }

  /// About how many bytes the journal has of changes behind the snapshot that the keys were read from, or had a moment ago.
  var wasWritten: Int { written.load(ordering: .relaxed) }

  // MARK: The loop

  func mutate(action: Action) -> Observable<KeyspaceChange> {
    switch action {
    case .run(let work, let reply):
      // It leaves at the end of this turn, or when everything before that is durable.
      reply()
      work.request.now = advance(to: work.request.now)
      if !work.writes {
        withCurrentState { work.read(from: $0, &channels.value) }
        return .empty()
      }
      let size = work.writtenSize
      if size > Self.largestChange {
        let error = "ERR more than \(Self.largestChange) bytes at once are too much for the journal"
        withCurrentState { work.refuseWrites(error, on: $0, &channels.value) }
        return .empty()
      }
      noteWritten(KeyspaceChange.size(ofArguments: size, count: work.writtenCount))
      return .just(.commands(of: work))
    case .unsubscribe(let client, let names):
      channels.value.unsubscribe(client, from: names)
      return .empty()
    case .expire(let now, let reply):
      let now = advance(to: now)
      let isDue = withCurrentState { $0.hasExpired(at: now) }
      // What this pass leaves is not known yet, so the next one finds out. It waits for the disk: the journal sets the pace.
      reply(isDue)
      if !isDue { return .empty() }
      noteWritten(KeyspaceChange.size(ofArguments: 0, count: 0))
      return .just(.expiry(at: now))
    }
  }

  /// Notes that a change is in the journal, or will be. The loop; before that the thread that reads the journal.
  private func noteWritten(_ size: Int) {
    // Relaxed: only this thread adds, and a reader needs no exact number.
    written.store(written.load(ordering: .relaxed) + size, ordering: .relaxed)
  }

  /// Notes that it is `now`; returns the time that counts, which may be later.
  private func advance(to now: Int64) -> Int64 {
    let before = latest.value == 0 ? withCurrentState { $0.latest } : latest.value
    latest.value = max(before, now)
    return latest.value
  }

  func reduce(into keyspace: inout Keyspace, mutation change: KeyspaceChange) {
    if let work = change.work {
      work.run(on: &keyspace, &channels.value)
    } else {
      // Later, these are the changes that the journal has just written, for the durable keys: `mutate` has counted them.
      if isRecovering.load(ordering: .relaxed) { noteWritten(change.size) }
      change.apply(to: &keyspace)
    }
  }
}
