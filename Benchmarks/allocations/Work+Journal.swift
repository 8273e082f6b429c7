import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime

/// What a journal costs the reactors that have none: nothing. So this must need what it needs without the journal.
extension Work {
  static func besideJournal(_ run: @escaping Run) throws -> Run {
    let journal = try Journal(store: InMemoryStore())
    let durable = DurableSum(journal)
    return { actions in
      // It has started, and the journal's thread sleeps again.
      if durable.latestState.sum == 0 { durable.send(1) }
      while durable.durableState.sum == 0 { DedicatedThread.yield() }
      try run(actions)
    }
  }
}

private final class DurableSum: DurableReactor {
  struct Mutation: JournalRecord {
    let value: UInt64

    init(value: UInt64) { self.value = value }
    func encode(into encoder: inout RecordEncoder) { encoder.append(value) }
    init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
      value = try decoder.read()
    }
  }
  struct State: Codable, Sendable { var sum: UInt64 = 0 }

  static let schema = Schema("sum")
  let initialState = State()
  let runtime: Runtime<UInt64, Mutation, State>

  init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("sum")) }

  func mutate(action: UInt64) -> Observable<Mutation> { .just(Mutation(value: action)) }

  func reduce(into state: inout State, mutation: Mutation) { state.sum &+= mutation.value }
}
