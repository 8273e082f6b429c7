import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

/// When the effect of `afterCommit` runs: it belongs to its mutation, wherever in a stream that is.
@Suite struct AfterCommitTests {
  private let store = InMemoryStore()
  private let effects = Record<String>()

  /// Returns what is recorded for the amount of 1, with an effect.
  private func mail(_ amount: Int64 = 1) -> Observable<Ledger.Mutation> {
    .afterCommit(added(amount)) { [effects] in effects.append("mail") }
  }

  /// Sends a mutation, and waits until it is durable, with everything before it.
  private func settle(_ shop: Shop) async throws { try await shop.sendDurably { .just(added(100)) } }

  /// Closes the commits, lets `body` record something, and waits until a commit of that has begun.
  private func holdCommit(of body: () -> Void) async {
    store.hold()
    let commits = store.commitCount
    body()
    while store.commitCount == commits { await Task.yield() }
  }

  /// Expects that the effect has not run yet, and runs when the commit is written that ``holdCommit(of:)`` holds.
  private func expectEffect(
    withHeldCommitOf shop: Shop, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(effects.elements == [], sourceLocation: sourceLocation)
    store.release()
    try await settle(shop)
    #expect(effects.elements == ["mail"], sourceLocation: sourceLocation)
  }

  @Test(arguments: [false, true])
  func `An effect behind another stream waits for its own mutation`(onOtherThread: Bool) async throws {
    let journal = try Journal(store: store)
    let shop = Shop(journal)
    let charges = PublishSubject<Ledger.Mutation>()
    try await shop.sendDurably { .concat(charges.asObservable(), mail(2)) }
    charges.onNext(added(1))
    try await settle(shop)
    #expect(effects.elements == [])
    await holdCommit {
      if onOtherThread {
        #expect(Threads.start { charges.onCompleted() }.wait())
      } else {
        charges.onCompleted()
      }
    }
    #expect(shop.latestState.total == 103)
    try await expectEffect(withHeldCommitOf: shop)
    #expect(shop.currentState.total == 203)
    try journal.end()
  }

  @Test func `An effect that a stream makes on another thread waits for the disk`() async throws {
    let journal = try Journal(store: store)
    let shop = Shop(journal)
    let charges = PublishSubject<Int64>()
    try await shop.sendDurably { charges.flatMap { mail($0) } }
    await holdCommit { #expect(Threads.start { charges.onNext(5) }.wait()) }
    try await expectEffect(withHeldCommitOf: shop)
    #expect(shop.currentState.total == 105)
    try journal.end()
  }

  private struct Refused: Error {}

  @Test(arguments: [0, 1, 2])
  func `An effect whose mutation is not recorded does not run`(_ way: Int) async throws {
    let journal = try Journal(store: store)
    let shop = Shop(journal, .filters)
    try await shop.sendDurably {
      switch way {
      case 0: .error(Refused()).concat(mail())
      case 1: mail().filter { _ in false }
      default: mail(-1)
      }
    }
    try await settle(shop)
    #expect(effects.elements == [])
    #expect(shop.currentState.total == 100)
    // The same shop runs one whose mutation is recorded.
    try await shop.sendDurably { mail() }
    #expect(effects.elements == ["mail"])
    try journal.end()
  }

  /// What becomes of a mutation may be several, which take turns with others.
  @Test(arguments: [Shop.Transform.none, .doubles])
  func `An effect runs once for what operators make of its mutation`(_ transform: Shop.Transform) async throws
  {
    let journal = try Journal(store: store)
    let shop = Shop(journal, transform)
    try await shop.sendDurably {
      transform == .doubles ? mail() : mail().flatMap { Observable.of($0, added(10)) }
    }
    #expect(effects.elements == ["mail"])
    #expect(shop.currentState.total == 11)
    #expect(store.batches.count == 1)
    try journal.end()
  }

  /// Another reactor's turn makes the stream emit. That one's records are durable first.
  @Test func `An effect waits for its own journal inside of a turn of another reactor`() async throws {
    let (journal, other) = (try Journal(store: store), try Journal(store: InMemoryStore()))
    let (shop, otherShop) = (Shop(journal), Shop(other))
    let charges = PublishSubject<Int64>()
    try await shop.sendDurably { charges.flatMap { mail($0) } }
    try await settle(otherShop)
    await holdCommit {
      shop.send {
        otherShop.send {
          charges.onNext(5)
          return .just(added(1))
        }
        return .empty()
      }
    }
    try await settle(otherShop)
    #expect(otherShop.currentState.total == 201)
    #expect(shop.latestState.total == 5)
    try await expectEffect(withHeldCommitOf: shop)
    try journal.end()
    try other.end()
  }

  @Test func `An effect does not run with the record of another reactor`() async throws {
    let (journal, other) = (try Journal(store: store), try Journal(store: InMemoryStore()))
    let (shop, otherShop) = (Shop(journal), Shop(other))
    try otherShop.recover()
    try await settle(shop)
    await holdCommit {
      shop.send {
        mail().do(onNext: { _ in
          otherShop.send { .just(added(1)) }
          otherShop.send { .concat(.just(added(1)), .never()) }
        })
      }
    }
    try await settle(otherShop)
    #expect(otherShop.currentState.total == 102)
    try await expectEffect(withHeldCommitOf: shop)
    try journal.end()
    try other.end()
  }

  @Test(arguments: [false, true])
  func `An action whose mutate drops the last reference to the reactor is recorded`(hasEffect: Bool)
    async throws
  {
    let journal = try Journal(store: store)
    let holder = SystemMutex<Shop?>(Shop(journal))
    try holder.withLock { $0 }?.recover()
    let action = try #require(holder.withLock { $0?.action })
    action.onNext { [holder] in
      let dropped = holder.withLock { $0.take() }
      withExtendedLifetime(dropped) {}
      return hasEffect ? mail(7) : .just(added(7))
    }
    try journal.end()
    #expect(store.batches.count == 1)
    #expect(effects.elements == (hasEffect ? ["mail"] : []))
    let next = try Journal(store: store)
    #expect(Shop(next).currentState.total == 7)
    try next.end()
  }
}

private func added(_ amount: Int64) -> Ledger.Mutation { .added(account: 1, amount: amount) }

/// A reactor that records what the code returns which it is sent.
final class Shop: DurableReactor {
  typealias Action = @Sendable () -> Observable<Ledger.Mutation>
  typealias Mutation = Ledger.Mutation
  typealias State = Ledger.State

  /// What `transform(mutation:)` does.
  enum Transform: Sendable {
    case none
    /// Drops what is negative.
    case filters
    /// Adds a mutation with the amount of 10 to each one.
    case doubles
  }

  static let schema = Schema("shop")
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>
  private let kind: Transform

  init(_ journal: Journal, _ transform: Transform = .none) {
    runtime = Runtime(journal: journal.entry("shop"), onFailure: { _ in })
    kind = transform
  }

  func mutate(action: @escaping Action) -> Observable<Mutation> { action() }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    switch kind {
    case .none: mutation
    case .filters: mutation.filter { if case .added(_, let amount) = $0 { amount > 0 } else { true } }
    case .doubles: mutation.flatMap { Observable.of($0, added(10)) }
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    guard case .added(let account, let amount) = mutation else { return }
    state.balances[account, default: 0] += amount
    state.changes += 1
  }
}
