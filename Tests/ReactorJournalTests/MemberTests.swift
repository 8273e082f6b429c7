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
    let user = Ending {}
    @Sendable func addMember(_ number: Int) -> JournalMember {
      let member = JournalMember(journal, journal.entry("\(number)"), .durable, .automatic)
      journal.addMembers([(member, user)])
      return member
    }
    let first = addMember(0)
    let reactor = Gone(holding: Ending { counts.append(journal.currentMembers.count) }, vanishes: true)
    _ = first.boundReference.setIfNil(BoundReference(reactor))
    let isDone = Threads.start {
      for number in 1...64 { _ = addMember(number) }
    }
    #expect(isDone.wait(seconds: 60))
    #expect(counts.elements == [65])
    #expect(journal.currentMembers.count == 65)
    // Now it is known to be gone.
    #expect(first.isGone)
    for number in 65..<200 { _ = addMember(number) }
    #expect(!journal.currentMembers.contains { $0 === first })
    try journal.end()
  }

  /// The process may exit as soon as the wait is over: see ``Work/hasEnded``.
  @Test func `A thread that waits for the end of a journal also waits for what its reactors do at their end`()
    throws
  {
    let journal = try Journal(store: InMemoryStore())
    let hasEnded = Atomic(false)
    do {
      let member = JournalMember(journal, journal.entry("0"), .durable, .automatic)
      let last = Ending {
        usleep(100_000)
        hasEnded.store(true, ordering: .sequentiallyConsistent)
      }
      journal.addMembers([(member, last)])
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

  @Test func `A full window of requests keeps its order in a snapshot`() throws {
    var window = RequestWindow(limit: 3)
    for id in UInt128(1)...4 { window.insert(id) }
    var encoder = RecordEncoder()
    window.encode(into: &encoder)
    let bytes = encoder.take()
    var decoder = RecordDecoder(bytes.span.bytes)
    var again = try RequestWindow(limit: 3, from: &decoder)
    again.insert(5)
    #expect((UInt128(1)...5).filter { again.contains($0) } == [3, 4, 5])
  }
}
