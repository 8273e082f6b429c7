import Dispatch
import ReactorCore

/// What a reactor's turns have handed over: their records, as runs, and what they do at their end.
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

  /// Tells those that wait that there is an error. A thread that is inside of no turn.
  func refuse(_ error: DurabilityError) { if let ends = ends.take() { ends.refuse(error) } }

  /// The same on another thread, since the calling one may own a reactor.
  func refuseElsewhere(_ error: DurabilityError) { DispatchQueue.global().async { self.refuse(error) } }
}
