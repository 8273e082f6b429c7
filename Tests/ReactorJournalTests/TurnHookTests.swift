import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

/// What a durable reactor does at the end of a turn: its own hook, and what the journal does.
@Suite struct TurnHookTests {
  /// A durable reactor with a hook at the end of its turns.
  private final class Flusher: DurableReactor, TurnObserving, EndObserving {
    typealias Action = Ledger.Mutation
    typealias Mutation = Ledger.Mutation
    typealias State = Ledger.State

    static let schema = Schema("flusher")
    let initialState = State()
    let runtime: Runtime<Action, Mutation, State>
    let ended = Record<Int>()

    init(_ journal: Journal, entry: String) {
      runtime = Runtime(journal: journal.entry(entry), onFailure: { _ in })
    }

    func reduce(into state: inout State, mutation: Mutation) { state.changes += 1 }

    func turnEnded(_ state: borrowing State) { ended.append(state.changes) }

    func willEnd(_ state: borrowing State) { ended.append(-1) }
  }

  @Test func `A reactor that cannot begin, since its journal was closed, is told of no turn and of no end`()
    throws
  {
    let journal = try Journal(store: InMemoryStore())
    let flusher = Flusher(journal, entry: "1")
    try journal.end()
    flusher.send(.added(account: 1, amount: 1))
    #expect(flusher.waitUntilEnded(before: .now + .seconds(20)))
    #expect(flusher.ended.elements == [])
  }

  @Test func `A durable reactor that two threads use first calls its hook, and keeps what they have sent`()
    async throws
  {
    let journal = try Journal(store: InMemoryStore())
    for number in 0..<200 {
      let flusher = Flusher(journal, entry: "\(number)")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask { try await flusher.sendDurably(.added(account: 1, amount: 1)) }
        }
        try await group.waitForAll()
      }
      #expect(flusher.ended.elements.last == 2)
      #expect(flusher.durableState.changes == 2)
    }
    try journal.end()
  }
}
