import FoundationEssentials
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import Testing

// Code of the article "Durability". Keep both in step.

// MARK: The outcome of a request

private final class OutcomeLedger: DurableReactor {
  enum Outcome: Codable, Sendable { case done, refused }
  enum Action: Sendable {
    case transfer(from: Int, to: Int, amount: Int, request: Int)
    case outcome(request: Int, Reply<Outcome?>)
  }
  enum Mutation: Codable, JournalRecord {
    case transferred(from: Int, to: Int, amount: Int, request: Int)
    case refused(request: Int)  // recorded as well, so that the outcome of a request never changes
  }
  struct State: Codable, Sendable {
    var balances = [1: 100]
    var outcomes: [Int: Outcome] = [:]
  }

  static let schema = Schema("outcome-ledger")
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("ledger/1")) }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .transfer(let from, let to, let amount, let request):
      if currentState.outcomes[request] != nil { return .empty() }  // repeated
      guard currentState.balances[from, default: 0] >= amount else {
        return .just(.refused(request: request))
      }
      return .just(.transferred(from: from, to: to, amount: amount, request: request))
    case .outcome(let request, let reply):
      reply(currentState.outcomes[request])
      return .empty()
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .transferred(let from, let to, let amount, let request):
      state.balances[from, default: 0] -= amount
      state.balances[to, default: 0] += amount
      state.outcomes[request] = .done
    case .refused(let request): state.outcomes[request] = .refused
    }
  }
}

// MARK: Reactors by key

private typealias Order = KeyedLedger

private final class KeyedLedger: DurableReactor {
  enum Mutation: Codable, JournalRecord { case added(Int) }

  static let schema = Schema("keyed-ledger")
  let initialState = 0
  let runtime: Runtime<Mutation, Mutation, Int>

  init(_ entry: JournalEntry) { runtime = Runtime(journal: entry) }

  func reduce(into state: inout Int, mutation: Mutation) {
    switch mutation {
    case .added(let amount): state += amount
    }
  }
}

private final class Orders: Sendable {
  private let journal: Journal
  private let reactors = Mutex<[String: Order]>([:])

  init(_ journal: Journal) { self.journal = journal }

  /// The reactor of an order: the same one until it is removed.
  func order(_ id: String) -> Order {
    if let order = reactors.withLock({ $0[id] }) { return order }
    let entry = journal.entry("order/\(id)")  // may wait for a commit, so not while the mutex is held
    return reactors.withLock { reactors in
      if let order = reactors[id] { return order }
      let order = Order(entry)  // Runtime(journal: entry)
      reactors[id] = order
      return order
    }
  }

  /// Releases the reactor of an order.
  func remove(_ id: String) { _ = reactors.withLock { $0.removeValue(forKey: id) } }
}

// MARK: When records change

private enum EuroLedger {
  final class First: DurableReactor {
    enum Mutation: Codable, JournalRecord { case added(account: Int, amount: Int) }
    static let schema = Schema("ledger")
    let initialState: [Int: Int] = [:]
    let runtime: Runtime<Mutation, Mutation, [Int: Int]>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("ledger/1")) }

    func reduce(into state: inout [Int: Int], mutation: Mutation) {
      switch mutation {
      case .added(let account, let amount): state[account, default: 0] += amount
      }
    }
  }

  final class Second: DurableReactor {
    enum Mutation: Codable, JournalRecord { case added(account: Int, cents: Int) }
    /// The mutations as version 1 has written them.
    enum FirstMutation: Codable { case added(account: Int, amount: Int) }

    static let schema = Schema(
      "ledger", version: 2,
      upcasters: [
        1: { bytes in
          switch try JSONDecoder().decode(FirstMutation.self, from: Data(bytes)) {
          case .added(let account, let amount):
            return Array(try JSONEncoder().encode(Mutation.added(account: account, cents: 100 * amount)))
          }
        }
      ])
    let initialState: [Int: Int] = [:]
    let runtime: Runtime<Mutation, Mutation, [Int: Int]>

    init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("ledger/1")) }

    func reduce(into state: inout [Int: Int], mutation: Mutation) {
      switch mutation {
      case .added(let account, let cents): state[account, default: 0] += cents
      }
    }
  }
}

@Suite struct DurabilitySnippets {
  private let store = InMemoryStore()

  @Test func `a client learns the outcome of its request`() async throws {
    let journal = try Journal(store: store)
    let ledger = OutcomeLedger(journal)
    for (request, amount) in [(1, 30), (2, 100), (1, 30)] {
      try await ledger.sendDurably(
        .transfer(from: 1, to: 2, amount: amount, request: request), id: UInt128(request))
    }
    #expect(try await ledger.ask { .outcome(request: 1, $0) } == .done)
    #expect(try await ledger.ask { .outcome(request: 2, $0) } == .refused)
    #expect(try await ledger.ask { .outcome(request: 3, $0) } == nil)
    #expect(ledger.currentState.balances == [1: 70, 2: 30])
    try journal.end()
  }

  @Test func `reactors by key have their states again`() async throws {
    let journal = try Journal(store: store)
    let orders = Orders(journal)
    try await orders.order("a").sendDurably(.added(1))
    #expect(orders.order("a") === orders.order("a"))
    orders.remove("a")
    try await orders.order("a").sendDurably(.added(2))
    try await orders.order("b").sendDurably(.added(4))
    #expect(orders.order("a").currentState == 3 && orders.order("b").currentState == 4)
    try journal.end()
  }

  @Test func `records of an older version are read`() async throws {
    let journal = try Journal(store: store)
    try await EuroLedger.First(journal).sendDurably(.added(account: 1, amount: 3))
    try journal.end()
    let next = try Journal(store: store)
    let ledger = EuroLedger.Second(next)
    try await ledger.sendDurably(.added(account: 1, cents: 50))
    #expect(ledger.currentState == [1: 350])
    try next.end()
  }
}
