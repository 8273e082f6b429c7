import ReactorCore
import ReactorRuntime

/// A stream with given events at given times, which knows who was subscribed when.
///
/// ``TestScheduler/createHotObservable(_:)`` and ``TestScheduler/createColdObservable(_:)`` make it. An
/// observer that is subscribed directly is told all events, also those after a stop event; operators stop
/// there.
public final class TestableObservable<Element: Sendable>: ObservableType {
  enum Temperature: Sendable {
    case hot
    case cold
  }

  private struct State: Sendable {
    var subscriptions: [Subscription] = []
    /// Those that have not ended, by their place in `subscriptions`.
    var observers: [Int: @Sendable (Event<Element>) -> Void] = [:]
  }

  /// What it tells. Times are absolute if it is hot, from the subscription on if it is cold.
  public let recordedEvents: [Recorded<Event<Element>>]
  private let temperature: Temperature
  private let scheduler: TestScheduler
  private let state = SystemMutex(State())

  init(_ temperature: Temperature, _ events: [Recorded<Event<Element>>], _ scheduler: TestScheduler) {
    self.temperature = temperature
    self.scheduler = scheduler
    recordedEvents = events
  }

  /// Who was subscribed when, in the order of subscription. Any thread.
  public var subscriptions: [Subscription] { state.withLock { $0.subscriptions } }

  public func asObservable() -> Observable<Element> {
    .create { [self] observer in add { observer.on($0) } }
  }

  /// Tells an observer all events, also those after a stop event.
  @discardableResult
  public func subscribe(_ observer: some ObserverType<Element>) -> any Disposable {
    add { observer.on($0) }
  }

  private func add(_ observer: @escaping @Sendable (Event<Element>) -> Void) -> any Disposable {
    let time = scheduler.clock
    let place = state.withLock { state in
      state.subscriptions.append(Subscription(time))
      state.observers[state.subscriptions.count - 1] = observer
      return state.subscriptions.count - 1
    }
    let timers = CompositeDisposable()
    if temperature == .cold {
      for event in recordedEvents {
        timers.insert(scheduler.scheduleIn(event.time) { [self] in tell(event.value, at: place) })
      }
    }
    return Disposables.create { [self] in
      timers.dispose()
      remove(place)
    }
  }

  private func remove(_ place: Int) {
    let time = scheduler.clock
    // Destroyed outside of the lock.
    _ = state.withLock { state in
      state.subscriptions[place] = Subscription(state.subscriptions[place].subscribe, time)
      return state.observers.removeValue(forKey: place)
    }
  }

  /// Tells everybody who is subscribed, in the order of subscription.
  func tell(_ event: Event<Element>) {
    let places = state.withLock { $0.observers.keys.sorted() }
    for place in places { tell(event, at: place) }
  }

  private func tell(_ event: Event<Element>, at place: Int) { state.withLock { $0.observers[place] }?(event) }
}
