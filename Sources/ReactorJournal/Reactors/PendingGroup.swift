import Dispatch
import ReactorCore

/// What a reactor's turns have handed over and the committer has not taken: groups in the order of the turns. More than one only if
/// the reactor runs turns though the first one is full.
struct PendingGroups: Sendable {
  private var groups: [PendingGroup] = []
  /// The index of the first one that was not taken.
  private var first = 0
  /// What counts for the bound of the memory.
  private(set) var memory = 0

  var isEmpty: Bool { first == groups.count }

  /// Adds what a turn hands over to the last group, or to a new one if that is full: a turn's records are in one batch.
  ///
  /// - Parameters:
  ///   - limit: How much memory makes a group full. A batch is one row of the store, which has a limit.
  ///   - add: Adds it.
  mutating func append(limit: Int, _ add: (inout PendingGroup) -> Void) {
    if isEmpty || groups[groups.count - 1].memory >= limit { groups.append(PendingGroup()) }
    let last = groups.count - 1
    let before = groups[last].memory
    add(&groups[last])
    memory += groups[last].memory - before
    if groups[last].isEmpty { groups.removeLast() }
  }

  /// Removes the first group. There must be one. O(1) on average.
  mutating func takeFirst() -> PendingGroup {
    var group = PendingGroup()
    swap(&group, &groups[first])
    memory -= group.memory
    first += 1
    if isEmpty {
      groups.removeAll(keepingCapacity: true)
      first = 0
    }
    return group
  }

  /// Tells what waits in all of them that there is an error. As with ``HeldEnds/refuse(_:)``.
  func refuseEnds(_ error: DurabilityError) {
    for group in groups[first...] { for ends in group.ends { ends.refuse(error) } }
  }
}

/// The part of it that is committed at once: records, as runs, and what they do at their end.
struct PendingGroup: Sendable {
  private(set) var bytes: [UInt8] = []
  /// How many mutations there are.
  private(set) var count = 0
  private(set) var ends: [HeldEnds] = []
  /// Alive until its records are applied.
  var reactor: (any AnyObject & Sendable)?
  /// Where the last run begins, if it is one of mutations: another turn can continue it.
  private var openRun: Int?

  /// How many replies and the like there are in `ends`.
  private var endCount = 0

  var byteCount: Int { bytes.count }

  /// What counts for the bound of the memory.
  var memory: Int { bytes.count + endCount * JournalConfiguration.bytesOfEnd }

  var isEmpty: Bool { bytes.isEmpty && ends.isEmpty }

  /// Adds the ends of a turn.
  mutating func append(_ turn: HeldEnds) {
    endCount += turn.count
    ends.append(turn)
  }

  /// Moves the runs of a turn here.
  mutating func append(_ writer: inout RecordRunWriter, _ turnCount: Int) {
    count += turnCount
    let hasOneRun = writer.hasOneRun
    if hasOneRun, let openRun, writer.tryAppendRun(to: &bytes, continuing: openRun) { return }
    openRun = hasOneRun ? bytes.count : nil
    if bytes.isEmpty { bytes = writer.take() } else { writer.appendRuns(to: &bytes) }
  }
}

/// The ends of one turn.
final class HeldEnds: @unchecked Sendable {
  // Unchecked: one thread at a time has it, the owner and then the committer; `ends` is taken once.
  @exclusivity(unchecked) private var ends: TakenTurnEnds?

  /// How many there are.
  let count: Int

  init(_ ends: consuming TakenTurnEnds) {
    count = ends.count
    self.ends = consume ends
  }

  /// Runs them, or leaves them to the turn that the calling thread is inside of.
  func run() { if let ends = ends.take() { ends.run() } }

  /// Runs them inside of another end of a turn.
  func runInPlace() { if let ends = ends.take() { ends.runInPlace() } }

  /// Tells those that wait that there is an error. A thread that is inside of no turn.
  func refuse(_ error: DurabilityError) { if let ends = ends.take() { ends.refuse(error) } }

  /// The same on another thread, since the calling one may own a reactor.
  func refuseElsewhere(_ error: DurabilityError) { DispatchQueue.global().async { self.refuse(error) } }
}
