import ControlledScheduler
import ReactorCore
import ReactorJournal
import ReactorRuntime

/// A disk: a commit takes a second, and may fail.
final class Disk: JournalStore, @unchecked Sendable {
  // Unchecked: one thread runs at a time, and nothing is changed with a point in between.

  /// The numbers of the mutations that are on the disk.
  private(set) var numbers: [UInt64] = []
  private var position: UInt64 = 0
  private var commits = 0
  private let failing: Int

  /// - Parameter failing: Which commit fails, the first is 1; 0 if none does.
  init(failing: Int = 0) { self.failing = failing }

  func open() -> JournalEnd { JournalEnd(base: 0, position: 0, epoch: 1, entries: []) }

  func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError) {
    commits += 1
    sleep(.seconds(1))
    if commits == failing { throw .failed(code: 5, message: "the disk fails") }
    guard let batch else { return }
    check(batch.first == position + 1, "a batch begins at \(batch.first) behind \(position)")
    position += UInt64(batch.count)
    let found = Deposit.numbers(in: batch.bytes)
    check(found.count == batch.count, "\(found) are \(batch.count) records")
    numbers += found
  }

  func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError) {}
  func readSnapshots(of entry: UInt32) -> [JournalSnapshot] { [] }
  func removeSomeBatches(before position: UInt64) -> Bool { false }
  func close() {}
}

/// A record of one number, which can be found among other bytes.
struct Deposit: JournalRecord {
  private static let mark: UInt64 = 0xD3B0_7384_D113_0000
  let number: UInt64

  init(_ number: UInt64) { self.number = number }

  func encode(into encoder: inout RecordEncoder) { encoder.append(Self.mark | number) }

  init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
    number = try decoder.read(UInt64.self) ^ Self.mark
  }

  static func numbers(in bytes: [UInt8]) -> [UInt64] {
    if bytes.count < 8 { return [] }
    return (0...bytes.count - 8).compactMap { start in
      let word = bytes[start..<start + 8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      return word & ~0xFFFF == mark ? word & 0xFFFF : nil
    }
  }
}

/// A reactor with a journal that has room for one turn: the next one waits until the disk has taken that.
final class Account: DurableReactor {
  struct Action: Sendable {
    let parcel: Parcel
    var reply: Reply<UInt64>?
  }
  struct State: Codable, Sendable {
    var numbers: [UInt64] = []
  }

  static let schema = Schema("account")
  let initialState = State()
  let runtime: Runtime<Action, Deposit, State>
  private let ledger: Ledger

  init(_ ledger: Ledger, on placement: Placement, _ journal: Journal) {
    runtime = Runtime(
      on: placement, journal: journal.entry("account"), visibility: .durable, capacity: 2,
      onFailure: { [ledger] failure in
        if let action = failure.action as? Action { ledger.report(action.parcel.id, failure.sendError) }
      })
    self.ledger = ledger
    ledger.wasBorn()
    runtime.yieldSeldom()
  }

  deinit {
    ledger.wasFreed()
    ledger.hasDied()
  }

  func mutate(action: Action) -> Observable<Deposit> {
    ledger.beginMutate(action.parcel.id)
    // Not in `reduce`, which is called again when the record is durable.
    ledger.reduce(action.parcel.id)
    ledger.endMutate()
    let number = UInt64(action.parcel.id)
    action.reply?(number)
    return .just(Deposit(number))
  }

  func reduce(into state: inout State, mutation: Deposit) { state.numbers.append(mutation.number) }
}

/// A journal, its disk, and what was asked of its reactor.
final class Bank: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and nothing is changed with a point in between.
  let ledger = Ledger()
  let disk: Disk
  let journal: Journal
  private var asked: Set<Int> = []
  private var outcomes: [Int: [Result<UInt64, AskError>]] = [:]

  init(_ disk: Disk) {
    self.disk = disk
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 1
    configuration.snapshotRecords = nil
    // There is memory.
    journal = try! Journal(store: disk, configuration: configuration)
  }

  func send(_ id: Int, to account: Account) {
    ledger.send(id) { account.send(Account.Action(parcel: $0)) }
  }

  /// Asks, and does not wait for the reply, which must not come before the mutation is on the disk.
  func ask(_ id: Int, of account: Account) {
    begin(id)
    let parcel = Parcel(id, in: ledger)
    account.ask({ Account.Action(parcel: parcel, reply: $0) }, completion: { [self] in note($0, of: id) })
  }

  /// A request is about to be sent.
  func begin(_ id: Int) { asked.insert(id) }

  /// Notes what became of a request, and checks what holds at that moment.
  func note(_ outcome: Result<UInt64, AskError>, of id: Int) {
    outcomes[id, default: []].append(outcome)
    switch outcome {
    case .success(let number):
      check(number == id, "request \(id) got the reply \(number)")
      check(disk.numbers.contains(number), "request \(id) got its reply before the commit")
    case .failure(.closed):
      check(ledger.isClosing, "request \(id) was refused as closed by an open reactor")
    case .failure: break
    }
  }

  /// Closes the journal, and with it its reactor, and checks what is left.
  ///
  /// - Parameter failed: Whether the disk has failed.
  func finish(_ account: Account, failed: Bool = false) {
    // Nothing is left to do, so every reply has come, while the reactor is open.
    if !ledger.isClosing { verifyOutcomes(failed: failed) }
    ledger.willClose()
    do { try Shutdown.close([journal], before: .now + .seconds(60)) } catch { check(false, "\(error)") }
    verifyOutcomes(failed: failed)
    let processed = ledger.reduced.sorted { $0.value[0] < $1.value[0] }.map { UInt64($0.key) }
    let durable = account.durableState.numbers
    check(durable == disk.numbers, "\(durable) is shown, and \(disk.numbers) is on the disk")
    check(
      failed ? processed.starts(with: durable) : processed == durable,
      "\(processed) was processed, and \(durable) is on the disk")
  }

  /// Checks that each request has one outcome: what was processed gets its reply, unless the disk has failed before it had the
  /// mutation; what was not processed is refused as closed.
  func verifyOutcomes(failed: Bool = false) {
    for id in asked.sorted() {
      let outcomes = outcomes[id, default: []]
      check(outcomes.count == 1, "request \(id) had the outcomes \(outcomes)")
      guard case .failure(let error) = outcomes[0] else { continue }
      let isProcessed = ledger.reduced[id] != nil
      let isLost = failed && isProcessed && !disk.numbers.contains(UInt64(id))
      switch error {
      case .closed: check(!isProcessed, "request \(id) was processed, and refused as closed")
      case .failed: check(isLost, "request \(id) failed, which the disk does not explain: \(error)")
      default: check(false, "request \(id) failed: \(error)")
      }
    }
  }
}
