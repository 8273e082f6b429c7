import ReactorCore
import ReactorRuntime
import TestSupport

/// The parameters of a scenario in which many threads send to one reactor.
struct ReactorLoad: Sendable, CustomStringConvertible {
  var place: Place
  var capacity: Int
  var producers: Int
  var turnLimit = 1024
  /// Of each producer.
  var actions: Int
  /// So many actions the reactor sends itself for each, one after the other.
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

/// A reactor that writes down what it reduces, in a place that nothing guards but the runtime's promise that
/// one action at a time is processed: ThreadSanitizer sees it broken.
final class RecordingReactor: Reactor {
  struct Action: Sendable {
    var item: Item
    /// How many more actions are to follow from this one, sent by the reactor itself.
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
  /// The number under which the reactor itself sends.
  private let ownProducer: Int

  // Owner only.
  nonisolated(unsafe) private(set) var checker: SequenceChecker
  nonisolated(unsafe) private(set) var log: OwnerLog
  nonisolated(unsafe) private(set) var ownSends = 0
  nonisolated(unsafe) private var isReducing = false
  nonisolated(unsafe) private(set) var wasEnteredTwice = false

  /// - Parameters:
  ///   - keepsSequence: Whether nothing is refused, so that each producer's numbers have no gap.
  ///   - recorder: Nil: nothing is recorded.
  init(
    on placement: Placement, capacity: Int, overflow: OverflowPolicy = .block, producers: Int,
    keepsSequence: Bool = true, recorder: HistoryRecorder?, failures: FailureCounter
  ) {
    runtime = Runtime(
      on: placement, capacity: capacity, overflow: overflow,
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

  /// Its turn, for the record, is from here to the end of `reduce`: more of the turn is not seen here.
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
    log.receive(mutation.item.id)
    state.reduced += 1
    isReducing = false
    log.endTurn()
  }
}

/// Sends what it gets on, from inside its turns.
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
