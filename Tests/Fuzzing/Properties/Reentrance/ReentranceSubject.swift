import ReactorCore
import ReactorRuntime
import TestSupport

/// A fault of a subject of the re-entrance property, for the test that each is found.
public enum ReentranceFault: Sendable, CaseIterable {
  case turnsNestedSendsAround
  case losesNestedSends
  case doublesNestedSends
  case recurses
  case losesTheLastMutation
  case turnsMutationsAround
  case reducesTwice
  case keepsActions
  case isSlowToShow
}

struct PlannedAction: Sendable {
  let id: Int
  let plan: Plan
  let payload: LifetimeTracked
}

struct PlannedMutation: Sendable {
  let id: Int
  /// The stream that it comes from.
  var stream: Int?
  var deeds: [Deed] = []
  let payload: LifetimeTracked
}

/// The callbacks of the reactors, each with the reactor's number.
protocol ReentranceWitness: AnyObject, Sendable {
  func mutates(_ reactor: Int, _ action: PlannedAction) -> Observable<PlannedMutation>
  func reduces(_ reactor: Int, _ state: Digest, _ mutation: PlannedMutation)
  func reduced(_ reactor: Int, _ mutation: PlannedMutation)
  func fails(_ reactor: Int, _ failure: Failure)
}

final class ReentranceSubject: Reactor {
  let runtime: Runtime<PlannedAction, PlannedMutation, Digest>
  let initialState = Digest()
  private let number: Int
  private let witness: any ReentranceWitness
  private let fault: ReentranceFault?
  private let kept = Record<PlannedAction>()

  init(
    _ number: Int, on placement: Placement, _ witness: any ReentranceWitness, _ fault: ReentranceFault?
  ) {
    runtime = Runtime(on: placement, onFailure: { witness.fails(number, $0) })
    self.number = number
    self.witness = witness
    self.fault = fault
  }

  func mutate(action: PlannedAction) -> Observable<PlannedMutation> {
    if fault == .keepsActions { kept.append(action) }
    let answer = witness.mutates(number, action)
    switch fault {
    case .losesTheLastMutation: return answer.take(5)
    case .turnsMutationsAround:
      if case .known(6) = action.plan.answer { return answer.skip(3).concat(answer.take(3)) }
      return answer
    default: return answer
    }
  }

  func reduce(into state: inout Digest, mutation: PlannedMutation) {
    witness.reduces(number, state, mutation)
    state.append(mutation.id)
    if fault == .reducesTwice, mutation.id % 8 == 7 { state.append(mutation.id) }
    witness.reduced(number, mutation)
  }
}
