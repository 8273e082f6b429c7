import Glibc
import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

@testable import ReactorJournal

/// What a journal keeps of its reactors.
@Suite struct MemberTests {
  /// What binds a reactor that is gone, and holds something.
  private final class Gone: BoundReactor {
    private let held: SystemMutex<(any AnyObject & Sendable)?>
    private let vanishes: Bool

    /// - Parameter vanishes: Whether the reactor is found once more: `held` is its last reference, which goes to the caller that
    ///   checks whether it is gone. Otherwise `held` stays until the member is destroyed.
    init(holding held: any AnyObject & Sendable, vanishes: Bool) {
      self.held = SystemMutex(held)
      self.vanishes = vanishes
    }

    var reactor: (any AnyObject & Sendable)? { vanishes ? held.withLock { $0.take() } : nil }
    var followerRuntime: AnyObject? { nil }
    func digestOfOwner() -> (digest: UInt64, version: UInt16)? { nil }
    func resume(_ reactor: any AnyObject & Sendable) {}
    func close(_ reactor: any AnyObject & Sendable, _ closing: Closing) {}
    func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] { [] }
    func finish(_ group: CommittedGroup) {}
    func completeStates() {}
    func requestSnapshot() {}
    func tryBeginSnapshot() -> Bool { false }
    func dropSnapshot() {}
    var snapshotCount: Int { 0 }
    var snapshotFailure: JournalError? { nil }
  }

  private final class Ending: Sendable {
    let onEnd: @Sendable () -> Void

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
  }

  @Test func `A reactor whose end uses the journal may end while the journal looks for gone ones`() throws {
    let journal = try Journal(store: InMemoryStore())
    let counts = Record<Int>()
    let first = journal.addMember(journal.entry("0"), .durable)
    let reactor = Gone(holding: Ending { counts.append(journal.currentMembers.count) }, vanishes: true)
    _ = first.boundReference.setIfNil(BoundReference(reactor))
    let isDone = Threads.start {
      _ = journal.addMember(journal.entry("1"), .durable)
    }
    #expect(isDone.wait(seconds: 60))
    #expect(counts.elements == [2])
    #expect(journal.currentMembers.count == 2)
    // Now it is known to be gone.
    #expect(first.isGone)
    _ = journal.addMember(journal.entry("2"), .durable)
    #expect(!journal.currentMembers.contains { $0 === first })
    #expect(journal.currentMembers.count == 2)
    try journal.end()
  }

  @Test func `Among many members, the gone ones are looked for when there are twice as many`() throws {
    let journal = try Journal(store: InMemoryStore())
    var number = 0
    func add(isGone: Bool) {
      let member = journal.addMember(journal.entry("\(number)"), .durable)
      number += 1
      guard isGone else { return }
      let reactor = Gone(holding: Ending {}, vanishes: false)
      _ = member.boundReference.setIfNil(BoundReference(reactor))
    }
    for _ in 0..<200 { add(isGone: false) }
    #expect(journal.currentMembers.count == 200)
    // They were looked for with 128 members, and are with 258.
    for _ in 0..<58 { add(isGone: true) }
    #expect(journal.currentMembers.count == 258)
    add(isGone: true)
    #expect(journal.currentMembers.count == 201)
    try journal.end()
  }

  /// A state of which it is known how many there are.
  private final class Counted: DurableReactor {
    final class Token: Sendable {
      static let alive = Atomic(0)
      init() { Self.alive.add(1, ordering: .relaxed) }
      deinit { Self.alive.subtract(1, ordering: .relaxed) }
    }

    struct State: Sendable { var token = Token() }

    typealias Action = Ledger.Mutation
    typealias Mutation = Ledger.Mutation

    static let schema = Schema("counted")
    var initialState: State { State() }
    let runtime: Runtime<Action, Mutation, State>

    init(_ journal: Journal, _ number: Int) { runtime = Runtime(journal: journal.entry("\(number)")) }

    func mutate(action: Action) -> Observable<Mutation> { .just(action) }
    func reduce(into state: inout State, mutation: Mutation) {}
    static func encodeSnapshot(of state: borrowing State, into encoder: inout RecordEncoder) throws {}
    static func decodeSnapshot(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord)
      -> State
    { State() }
  }

  @Test func `The durable states of released reactors do not stay in memory`() async throws {
    let journal = try Journal(store: InMemoryStore())
    for number in 0..<40 {
      try await Counted(journal, number).sendDurably(.added(account: 1, amount: 1))
    }
    // Some of the last ones may have just been confirmed.
    try await Counted(journal, 40).sendDurably(.added(account: 1, amount: 1))
    let stayed = Counted.Token.alive.load(ordering: .relaxed)
    #expect(stayed < 20)
    let deadline = ContinuousClock.now + .seconds(patience)
    repeat {
      try await journal.compact()
    } while Counted.Token.alive.load(ordering: .relaxed) > 0 && .now < deadline
    #expect(Counted.Token.alive.load(ordering: .relaxed) == 0)
    try journal.end()
  }

  /// The process may exit as soon as the wait is over: see ``Work/hasEnded``.
  @Test func `A thread that waits for the end of a journal also waits for what its reactors do at their end`()
    throws
  {
    let journal = try Journal(store: InMemoryStore())
    let hasEnded = Atomic(false)
    do {
      let member = journal.addMember(journal.entry("0"), .durable)
      let last = Ending {
        usleep(100_000)
        hasEnded.store(true, ordering: .sequentiallyConsistent)
      }
      _ = member.boundReference.setIfNil(BoundReference(Gone(holding: last, vanishes: false)))
    }
    try journal.end()
    #expect(hasEnded.load(ordering: .sequentiallyConsistent) == true)
    // Nothing is left that would run later.
    let isRun = Atomic(false)
    journal.addJob { isRun.store(true, ordering: .sequentiallyConsistent) }
    #expect(isRun.load(ordering: .sequentiallyConsistent) == true)
  }

  @Test func `The end of a journal is awaited until the deadline`() async throws {
    let store = InMemoryStore()
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.hold()
    ledger.send(.deposit(account: 1, amount: 2))
    while store.commitCount == 1 { await Task.yield() }
    let begin = ContinuousClock.now
    journal.beginClosing()
    let unfinished = journal.finishClosing(before: begin + .milliseconds(50))
    #expect(unfinished.map(\.name) == ["journal"])
    #expect(ContinuousClock.now - begin < .seconds(5))
    store.release()
    #expect(journal.finishClosing(before: .now + .seconds(30)) == [])
    #expect(store.batches.count == 2)
  }
}
