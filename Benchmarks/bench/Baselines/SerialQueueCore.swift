import Dispatch
import ReactorSwiftCompatibility

/// ReactorSwift's API in the plain way: a serial queue that gets each event as a block of its own.
///
/// `@unchecked Sendable`: `state` and `subscribers` are used only by blocks of `queue`.
final class SerialQueueCore<StateType: State>: @unchecked Sendable {
  private struct Subscription {
    weak var subscriber: (any AnySubscriber)?
    let queue: DispatchQueue
  }

  private let queue = DispatchQueue(label: "bench.core")
  private var state: StateType
  private var subscribers: [Subscription] = []
  private let middlewares: [any AnyMiddleware]

  init(state: StateType, middlewares: [any AnyMiddleware] = []) {
    (self.state, self.middlewares) = (state, middlewares)
  }

  func fire(event: any Event) {
    queue.async { [self] in
      state.react(to: event)
      for subscription in subscribers { notify(subscription) }
      for middleware in middlewares { middleware._process(event: event, state: state) }
    }
  }

  func add(subscriber: any AnySubscriber, notifyOnQueue notifyQueue: DispatchQueue) {
    queue.async { [self] in
      let subscription = Subscription(subscriber: subscriber, queue: notifyQueue)
      subscribers.append(subscription)
      notify(subscription)
    }
  }

  private func notify(_ subscription: Subscription) {
    subscription.queue.async { [state] in subscription.subscriber?._update(with: state) }
  }

  /// The state after all that was fired before.
  var settledState: StateType { queue.sync { state } }
}

final class SerialQueueCoreBaseline: FanInSubject {
  static var floats: Bool { true }
  static var mostItems: Int? { 2_000_000 }

  private let core: SerialQueueCore<TallyState>

  init(_ setup: SubjectSetup) {
    core = SerialQueueCore(state: TallyState(tally: Tally(inspector: setup.inspector)))
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { core.fire(event: ItemEvent(item: Item(producer: UInt64(producer), value: value))) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return core.settledState.tally.totals
  }
}
