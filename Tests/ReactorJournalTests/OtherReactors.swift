import Dispatch
import Glibc
import ReactorCore
import ReactorJournal
import ReactorRuntime
import Synchronization
import TestSupport

/// A reactor with a transform that emits a mutation as soon as it is connected.
final class Greeter: DurableReactor {
  typealias Action = Ledger.Mutation
  typealias Mutation = Ledger.Mutation
  typealias State = Ledger.State

  static let schema = Schema("greeter")
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("greeter")) }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    .merge(mutation, .just(.added(account: 1, amount: 1)))
  }

  func reduce(into state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A reactor with a transform that ends behind its first mutation.
final class FiniteReactor: DurableReactor {
  typealias Action = Ledger.Mutation
  typealias Mutation = Ledger.Mutation
  typealias State = Ledger.State

  static let schema = Schema("finite")
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(_ journal: Journal, _ visibility: Visibility) {
    runtime = Runtime(journal: journal.entry("finite"), visibility: visibility, onFailure: { _ in })
  }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> { mutation.take(1) }

  func mutate(action: Action) -> Observable<Mutation> { .just(action) }

  func reduce(into state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A reactor that waits for a permission while it is started.
final class LateReactor: DurableReactor {
  typealias Action = Ledger.Mutation
  typealias Mutation = Ledger.Mutation
  typealias State = Ledger.State

  static let schema = Schema("late")
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>
  private let (isStarting, mayStart): (Gate, Gate)

  init(_ journal: Journal, _ isStarting: Gate, _ mayStart: Gate, _ refused: Record<Failure.Cause>) {
    runtime = Runtime(journal: journal.entry("late"), onFailure: { refused.append($0.cause) })
    (self.isStarting, self.mayStart) = (isStarting, mayStart)
  }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    isStarting.open()
    _ = mayStart.wait()
    return mutation
  }

  func mutate(action: Action) -> Observable<Mutation> { .just(action) }

  func reduce(into state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A reactor with the records of a ``Ledger``, of which snapshots are counted. For one test.
final class CountedLedger: DurableReactor {
  typealias Action = Ledger.Mutation
  typealias Mutation = Ledger.Mutation
  typealias State = Ledger.State

  static let schema = Schema("ledger")
  /// How many snapshots were begun, and how many are in the store.
  static let encoded = Atomic(0)
  static let written = Atomic(0)
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(_ journal: Journal, entry: String) { runtime = Runtime(journal: journal.entry(entry)) }

  func mutate(action: Action) -> Observable<Mutation> { .just(action) }

  func reduce(into state: inout State, mutation: Mutation) { state.changes += 1 }

  static func encodeSnapshot(of state: borrowing State, into encoder: inout RecordEncoder) throws {
    encoded.add(1, ordering: .relaxed)
    usleep(1000)
    try Ledger.encodeSnapshot(of: state, into: &encoder)
  }
}

/// A reactor with the records of a ``Ledger``, of which each snapshot waits for a permission.
final class SlowLedger: DurableReactor {
  typealias Action = Ledger.Mutation
  typealias Mutation = Ledger.Mutation
  typealias State = Ledger.State

  static let schema = Schema("ledger")
  static let mayEncode = DispatchSemaphore(value: 0)
  static let encodes = DispatchSemaphore(value: 0)
  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>

  init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("ledger/1")) }

  func mutate(action: Action) -> Observable<Mutation> { .just(action) }

  func reduce(into state: inout State, mutation: Mutation) {
    guard case .added(let account, let amount) = mutation else { return }
    state.balances[account, default: 0] += amount
    state.changes += 1
  }

  static func encodeSnapshot(of state: borrowing State, into encoder: inout RecordEncoder) throws {
    encodes.signal()
    mayEncode.wait()
    try Ledger.encodeSnapshot(of: state, into: &encoder)
  }
}
