import ReactorCore
import ReactorRuntime
import TestSupport

/// A reactor that writes down what it reduces, in a place that nothing guards but the runtime's promise that
/// one action at a time is processed: ThreadSanitizer sees it broken.
final class RecordingReactor<C: Core>: Reactor {
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
  let runtime: RuntimeOn<C, Action, Action, State>
  private let clock: LogicalClock?
  /// The number under which the reactor itself sends.
  private let ownProducer: Int

  // Owner only.
  nonisolated(unsafe) private(set) var checker: SequenceChecker
  nonisolated(unsafe) private(set) var history = History()
  nonisolated(unsafe) private(set) var ownSends = 0
  nonisolated(unsafe) private var isReducing = false
  nonisolated(unsafe) private(set) var wasEnteredTwice = false

  init(
    on placement: PlacementOn<C>, capacity: Int, producers: Int, clock: LogicalClock?,
    failures: FailureCounter
  ) {
    runtime = RuntimeOn(on: placement, capacity: capacity, onFailure: { failures.note($0) })
    self.clock = clock
    ownProducer = producers
    checker = SequenceChecker(producers: producers + 1)
  }

  func mutate(action: Action) -> Observable<Action> {
    guard action.reentries > 0 else { return .just(action) }
    let next = Action(
      item: Item(producer: ownProducer, sequence: ownSends), reentries: action.reentries - 1)
    let begin = clock?.now() ?? 0
    send(next)
    let end = clock?.now() ?? 0
    if clock != nil {
      history.sends.append(
        History.Send(producer: ownProducer, sequence: ownSends, begin: begin, end: end))
    }
    ownSends += 1
    return .just(action)
  }

  func reduce(into state: inout State, mutation: Action) {
    if isReducing { wasEnteredTwice = true }
    isReducing = true
    checker.receive(mutation.item)
    if let clock {
      history.receptions.append(History.Reception(element: mutation.item.id, time: clock.now()))
    }
    state.reduced += 1
    isReducing = false
  }
}
