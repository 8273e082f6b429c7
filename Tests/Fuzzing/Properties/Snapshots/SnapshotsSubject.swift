import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport

/// A fault of a subject of the snapshots property, for the test that each is found.
public enum SnapshotsFault: Sendable, CaseIterable {
  case losesChanges
  case doublesChanges
  case showsTornStates
  case showsAnEarlierState
  case changesWhatIsRead
  case changesCopies
  case showsItsOwnerAnEarlierState
  case keepsPayloads
}

/// What is sent.
struct SnapshotsAction: Sendable {
  let changes: [SnapshotsChange]
  let payload: LifetimeTracked
}

struct SnapshotsMutation: Sendable {
  let change: SnapshotsChange
  let payload: LifetimeTracked
}

/// What a read has found.
struct Sight: Sendable, Equatable, CustomStringConvertible {
  let version: Int
  let fingerprint: Int

  var description: String { "version \(version) (fingerprint \(fingerprint))" }
}

extension SnapshotsState {
  var sight: Sight { Sight(version: version, fingerprint: fingerprint) }
}

/// The reactor.
final class SnapshotsSubject<State: SnapshotsState>: Reactor {
  typealias Action = SnapshotsAction
  typealias Mutation = SnapshotsMutation

  let runtime: Runtime<SnapshotsAction, SnapshotsMutation, State>
  let initialState: State
  /// What `mutate` has found wrong.
  let complaints = Record<String>()
  private let fault: SnapshotsFault?
  private let earlier: SystemMutex<Sight>
  /// How many changes there have been. The owner.
  private let reduced = Shared(OwnerIsolated(0))

  init(
    _ snapshotsCase: SnapshotsCase, on placement: Placement, _ payload: LifetimeTracked,
    _ fault: SnapshotsFault?
  ) {
    runtime = Runtime(
      on: placement, snapshots: snapshotsCase.policy, capacity: 1024, onFailure: { _ in })
    initialState = State(payload)
    earlier = SystemMutex(initialState.sight)
    self.fault = fault
  }

  func mutate(action: SnapshotsAction) -> Observable<SnapshotsMutation> {
    let (expected, found) = (reduced.value.value, withCurrentState { $0.version })
    let isOld = fault == .showsItsOwnerAnEarlierState && expected > 0
    if (isOld ? found - 1 : found) != expected {
      complaints.append("mutate has read version \(found) after \(expected) changes.")
    }
    if fault == .keepsPayloads {
      // A cycle.
      let kept = Record<any Sendable>()
      kept.append(kept)
      kept.append(action.payload)
    }
    var mutations = action.changes.map { SnapshotsMutation(change: $0, payload: action.payload) }
    if fault == .losesChanges, mutations.count == 3 { mutations.removeLast() }
    if fault == .doublesChanges, mutations.count == 2 { mutations.append(mutations[0]) }
    reduced.value.value += mutations.count
    return mutations.count == 1 ? .just(mutations[0]) : .from(mutations)
  }

  func reduce(into state: inout State, mutation: SnapshotsMutation) {
    state.apply(mutation.change, mutation.payload)
  }

  // MARK: Reading

  /// What a reader sees of the state that it was given.
  ///
  /// - Parameter isRepeated: Whether it has seen that state before.
  func sight(of state: borrowing State, isRepeated: Bool = false) -> Sight {
    let sight = state.sight
    switch fault {
    case .showsTornStates where sight.version % 4 == 3:
      return Sight(version: sight.version, fingerprint: sight.fingerprint &+ 1)
    case .showsAnEarlierState:
      return earlier.withLock { earlier in
        defer { earlier = sight }
        return earlier
      }
    case .changesWhatIsRead where isRepeated:
      return withCurrentState { $0.sight }
    default: return sight
    }
  }

  func sight() -> Sight { withCurrentState { sight(of: $0) } }

  /// What is in a copy that was taken a while ago.
  func sight(ofCopy copy: inout State) -> Sight {
    if fault == .changesCopies {
      copy.apply(SnapshotsChange(kind: .append, value: 1), Lifetimes().track())
    }
    return copy.sight
  }
}
