import ReactorCore
import TestSupport

@testable import ReactorRuntime

/// The parameters of a scenario in which many threads send to one reactor.
struct ReactorLoad: Sendable, CustomStringConvertible {
  var place: Place
  var capacity: Int
  var producers: Int
  var turnLimit = 1024
  /// The number for each producer.
  var actions: Int
  /// How many actions the reactor sends to itself for each action, one after the other.
  var reentries = 0
  var isRecorded: Bool

  var description: String {
    "\(place), capacity \(capacity), \(producers) producers, turn limit \(turnLimit), "
      + "\(reentries) re-entries" + (isRecorded ? ", recorded" : "")
  }
}

/// Counts what a runtime reports as not delivered.
final class FailureCounter: Sendable {
  private let counts = Guarded<[SendError: Int]>([:])

  func note(_ failure: Failure) {
    guard let reason = failure.sendError else { preconditionFailure("\(failure)") }
    counts.with { $0[reason, default: 0] += 1 }
  }

  func count(_ reason: SendError) -> Int { counts.with { $0[reason, default: 0] } }

  var total: Int { counts.with { $0.values.reduce(0, +) } }
}

/// A reactor that records what it reduces. Only the runtime's guarantee that one action at a time is processed guards
/// the record, so ThreadSanitizer reports a race if the guarantee is broken.
final class RecordingReactor: Reactor {
  struct Action: Sendable {
    var item: Item
    /// How many more actions follow from this one, which the reactor sends to itself.
    var reentries = 0
  }

  typealias Mutation = Action

  struct State: Sendable {
    var reduced = 0
  }

  let initialState = State()
  let runtime: Runtime<Action, Action, State>
  private let recorder: HistoryRecorder?
  private let keepsSequence: Bool
  /// The producer number of the reactor itself.
  private let ownProducer: Int

  // Owner only.
  nonisolated(unsafe) private(set) var checker: SequenceChecker
  nonisolated(unsafe) private(set) var log: OwnerLog
  nonisolated(unsafe) private(set) var ownSends = 0
  nonisolated(unsafe) private var isReducing = false
  nonisolated(unsafe) private(set) var wasEnteredTwice = false

  /// - Parameters:
  ///   - keepsSequence: Whether nothing is refused, so that each producer's numbers have no gap.
  ///   - recorder: If nil, nothing is recorded.
  init(
    on placement: Placement, capacity: Int, overflow: OverflowPolicy = .block,
    reentrantCapacity: Int = 65_536, producers: Int, keepsSequence: Bool = true, recorder: HistoryRecorder?,
    failures: FailureCounter
  ) {
    runtime = Runtime(
      on: placement, capacity: capacity, overflow: overflow, reentrantCapacity: reentrantCapacity,
      onFailure: { failure in
        failures.note(failure)
        guard let recorder, let action = failure.action as? Action, let reason = failure.sendError else {
          return
        }
        recorder.noteRefusal(of: action.item.id, reason)
      })
    self.recorder = recorder
    self.keepsSequence = keepsSequence
    log = OwnerLog(recorder)
    ownProducer = producers
    checker = SequenceChecker(producers: producers + 1)
  }

  /// The recorded turn is from here to the end of `reduce`. The rest of the turn cannot be seen here.
  func mutate(action: Action) -> Observable<Action> {
    log.beginTurn()
    guard action.reentries > 0 else { return .just(action) }
    let item = Item(producer: ownProducer, sequence: ownSends, countedBy: recorder?.payloads)
    log.sendAsOwner(ownProducer, ownSends) { send(Action(item: item, reentries: action.reentries - 1)) }
    ownSends += 1
    return .just(action)
  }

  func reduce(into state: inout State, mutation: Action) {
    if isReducing { wasEnteredTwice = true }
    isReducing = true
    if keepsSequence { checker.receive(mutation.item) }
    // The counters change at the end of a turn.
    log.receive(
      mutation.item.id, inTurn: runtime.turnCounters.wasImmediate + runtime.turnCounters.wasTurns)
    state.reduced += 1
    isReducing = false
    log.endTurn()
  }
}

/// Forwards its actions to another reactor, from inside its turns.
final class TurnSender: Reactor {
  typealias Action = RecordingReactor.Action
  let initialState = 0
  let runtime = Runtime<Action, Action, Int>()
  private let target: RecordingReactor

  init(to target: RecordingReactor) { self.target = target }

  func mutate(action: Action) -> Observable<Action> {
    target.send(action)
    return .empty()
  }

  func reduce(into state: inout Int, mutation: Action) {}
}
