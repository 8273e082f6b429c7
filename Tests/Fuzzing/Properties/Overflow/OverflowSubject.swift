import ReactorCore
import ReactorRuntime
import TestSupport

/// A fault of a subject of the overflow property, for the test that each is found.
public enum OverflowFault: Sendable, CaseIterable {
  case dropsTheNewestForTheOldest
  case refusesWhereItShouldDrop
  case holdsMoreThanItsCapacity
  case holdsMoreFromInside
  case reportsTwice
  case reportsNothing
  case keepsWhatItHasProcessed
  case losesEveryEighth
  case doublesEveryEighth
  case drainsWhereItShouldDiscard
}

/// An action.
struct Parcel: Sendable {
  let id: Int
  let tasks: [OverflowErrand]
  let payload: LifetimeTracked
}

/// The callbacks of a subject.
protocol OverflowWitness: AnyObject, Sendable {
  func processes(_ parcel: Parcel)
  func fails(_ failure: Failure)
  func carries(_ deliveries: [Delivery])
}

/// The reactor with the mailbox. Its state is a digest of what it has processed.
final class OverflowSubject: Reactor {
  let runtime: Runtime<Parcel, Int, Digest>
  let initialState = Digest()
  private let witness: any OverflowWitness
  private let fault: OverflowFault?
  private let kept = Record<Parcel>()

  init(
    _ overflowCase: OverflowCase, on placement: Placement, _ witness: any OverflowWitness,
    _ fault: OverflowFault?
  ) {
    runtime = Runtime(
      on: placement, capacity: overflowCase.capacity * (fault == .holdsMoreThanItsCapacity ? 2 : 1),
      overflow: Self.policy(overflowCase.policy, fault),
      reentrantCapacity: overflowCase.reentrantCapacity + (fault == .holdsMoreFromInside ? 1 : 0),
      onFailure: { failure in
        if fault != .reportsNothing { witness.fails(failure) }
        if fault == .reportsTwice { witness.fails(failure) }
      })
    self.witness = witness
    self.fault = fault
  }

  private static func policy(_ policy: OverflowPolicy, _ fault: OverflowFault?) -> OverflowPolicy {
    switch (fault, policy) {
    case (.dropsTheNewestForTheOldest, .dropOldest): .dropNewest
    case (.refusesWhereItShouldDrop, .dropNewest): .fail
    default: policy
    }
  }

  func mutate(action: Parcel) -> Observable<Int> {
    witness.processes(action)
    if fault == .keepsWhatItHasProcessed { kept.append(action) }
    return .just(action.id)
  }

  func reduce(into state: inout Digest, mutation: Int) { state.append(mutation) }

  func deliver(_ parcel: Parcel, _ way: SendWay) throws(SendError) {
    if fault == .losesEveryEighth, parcel.id % 8 == 7 { return }
    if fault == .doublesEveryEighth, parcel.id % 8 == 7 { send(parcel) }
    switch way {
    case .send: send(parcel)
    case .trySend: try trySend(parcel)
    case .sendBeforeNow: try send(parcel, before: .now)
    }
  }

  func end(_ closing: Closing) { close(fault == .drainsWhereItShouldDiscard ? .drain : closing) }
}

/// A reactor that sends to the other one from inside its turns.
final class OverflowCourier: Reactor {
  typealias Action = [Delivery]
  typealias State = Int

  let runtime = Runtime<[Delivery], Never, Int>(on: .caller)
  let initialState = 0
  private let witness: any OverflowWitness

  init(_ witness: any OverflowWitness) { self.witness = witness }

  func mutate(action: [Delivery]) -> Observable<Never> {
    witness.carries(action)
    return .empty()
  }
}
