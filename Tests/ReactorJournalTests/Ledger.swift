import ReactorJournal
import ReactorRuntime

/// What a user writes: accounts, and transfers between them.
final class Ledger: DurableReactor {
  enum Action: Sendable {
    case deposit(account: UInt32, amount: Int64)
    /// Two mutations, both or none.
    case transfer(from: UInt32, to: UInt32, amount: Int64)
    case balance(account: UInt32, Reply<Int64>)
    case depositAndReply(account: UInt32, amount: Int64, Reply<Int64>)
    case notify(account: UInt32, amount: Int64, @Sendable () -> Void)
  }

  enum Mutation: JournalRecord, Equatable {
    case added(account: UInt32, amount: Int64)

    func encode(into encoder: inout RecordEncoder) {
      switch self {
      case .added(let account, let amount):
        encoder.append(1 as UInt8)
        encoder.append(account)
        encoder.append(amount)
      }
    }

    init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
      switch try decoder.read(UInt8.self) {
      case 1: self = .added(account: try decoder.read(), amount: try decoder.read())
      default: throw MalformedRecord()
      }
    }
  }

  struct State: Codable, Sendable, Equatable {
    var balances: [UInt32: Int64] = [:]
    var changes = 0

    var total: Int64 { balances.values.reduce(0, +) }
  }

  static let schema = Schema("ledger")
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(
    _ journal: Journal, entry: String = "ledger/1", on placement: Placement = .caller,
    visibility: Visibility = .durable, snapshots: SnapshotPolicy = .automatic, capacity: Int = 4096,
    overflow: OverflowPolicy = .block,
    onFailure: @escaping @Sendable (Failure) -> Void = { _ in }
  ) {
    runtime = Runtime(
      on: placement, journal: journal.entry(entry), visibility: visibility, snapshots: snapshots,
      capacity: capacity, overflow: overflow, onFailure: onFailure)
  }

  /// A ledger with an entry that the caller has got before: that may wait for a commit.
  init(at entry: JournalEntry) { runtime = Runtime(journal: entry, onFailure: { _ in }) }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .deposit(let account, let amount):
      return .just(.added(account: account, amount: amount))
    case .transfer(let from, let to, let amount):
      guard currentState.balances[from, default: 0] >= amount else { return .empty() }
      return .of(.added(account: from, amount: -amount), .added(account: to, amount: amount))
    case .balance(let account, let reply):
      reply(currentState.balances[account, default: 0])
      return .empty()
    case .depositAndReply(let account, let amount, let reply):
      reply(currentState.balances[account, default: 0] + amount)
      return .just(.added(account: account, amount: amount))
    case .notify(let account, let amount, let effect):
      return .afterCommit(.added(account: account, amount: amount), effect)
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .added(let account, let amount):
      state.balances[account, default: 0] += amount
      state.changes += 1
    }
  }

  /// The sum over all accounts of what each gives.
  static func digest(of state: borrowing State) -> UInt64? {
    var sum: UInt64 = 0
    for (account, balance) in state.balances {
      sum &+= (UInt64(account) &+ 1) &* UInt64(bitPattern: balance &* 0x9E37_79B9 &+ 1)
    }
    return sum
  }
}

extension Ledger {
  /// Lets a reactor make a deposit of 1, and waits until it is gone.
  static func useOnce(_ journal: Journal, entry: String) async throws {
    weak var gone: Ledger?
    do {
      let ledger = Ledger(journal, entry: entry)
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      gone = ledger
    }
    while gone != nil { await Task.yield() }
  }
}

extension Journal {
  /// Closes the journal and its reactors.
  func end() throws { try Shutdown.close([self], before: .now + .seconds(30)) }
}
