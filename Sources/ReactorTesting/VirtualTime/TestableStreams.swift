import ReactorCore
import ReactorRuntime

/// The time between a subscription to a ``TestableObservable`` and its end.
public struct Subscription: Hashable, Sendable {
  /// The time of the subscription, in ticks.
  public let subscribe: TestTime
  /// The time at which the subscription was disposed, in ticks; `Int.max` if it was not.
  public let unsubscribe: TestTime

  public init(_ subscribe: TestTime, _ unsubscribe: TestTime = .max) {
    self.subscribe = subscribe
    self.unsubscribe = unsubscribe
  }
}

extension Subscription: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "(\(subscribe): \(unsubscribe == .max ? "…" : String(unsubscribe)))" }
  public var debugDescription: String { description }
}

/// A stream that emits given events at given times, and records its subscriptions.
///
/// ``TestScheduler/createHotObservable(_:)`` and ``TestScheduler/createColdObservable(_:)`` return it. An
/// observer that subscribes directly gets all events, even those after a stop event; operators ignore those.
public final class TestableObservable<Element: Sendable>: ObservableType {
  enum Temperature: Sendable {
    case hot
    case cold
  }

  private struct State: Sendable {
    var subscriptions: [Subscription] = []
    /// The observers whose subscriptions have not ended, by their index in `subscriptions`.
    var observers: [Int: @Sendable (Event<Element>) -> Void] = [:]
  }

  /// The events that it emits. Times are absolute if it is hot, and relative to each subscription if it is cold.
  public let recordedEvents: [Recorded<Event<Element>>]
  private let temperature: Temperature
  private let scheduler: TestScheduler
  private let state = SystemMutex(State())

  init(_ temperature: Temperature, _ events: [Recorded<Event<Element>>], _ scheduler: TestScheduler) {
    self.temperature = temperature
    self.scheduler = scheduler
    recordedEvents = events
  }

  /// All subscriptions so far, in the order in which they began. Any thread.
  public var subscriptions: [Subscription] { state.withLock { $0.subscriptions } }

  public func asObservable() -> Observable<Element> {
    .create { [self] observer in add { observer.on($0) } }
  }

  /// Subscribes an observer that gets all events, even those after a stop event. Any thread.
  @discardableResult
  public func subscribe(_ observer: some ObserverType<Element>) -> any Disposable {
    add { observer.on($0) }
  }

  private func add(_ observer: @escaping @Sendable (Event<Element>) -> Void) -> any Disposable {
    let time = scheduler.clock
    let index = state.withLock { state in
      state.subscriptions.append(Subscription(time))
      state.observers[state.subscriptions.count - 1] = observer
      return state.subscriptions.count - 1
    }
    let timers = CompositeDisposable()
    if temperature == .cold {
      for event in recordedEvents {
        timers.insert(scheduler.scheduleIn(event.time) { [self] in emit(event.value, to: index) })
      }
    }
    return Disposables.create { [self] in
      timers.dispose()
      remove(index)
    }
  }

  private func remove(_ index: Int) {
    let time = scheduler.clock
    // The observer is destroyed outside of the lock, because its captures may run user code then.
    _ = state.withLock { state in
      state.subscriptions[index] = Subscription(state.subscriptions[index].subscribe, time)
      return state.observers.removeValue(forKey: index)
    }
  }

  /// Emits an event to all observers, in the order in which they subscribed.
  func emit(_ event: Event<Element>) {
    let indices = state.withLock { $0.observers.keys.sorted() }
    for index in indices { emit(event, to: index) }
  }

  private func emit(_ event: Event<Element>, to index: Int) { state.withLock { $0.observers[index] }?(event) }
}

/// An observer that records the events it gets, and the virtual time of each. Any thread.
public final class TestableObserver<Element: Sendable>: ObserverType {
  private let scheduler: TestScheduler
  private let recorded = SystemMutex<[Recorded<Event<Element>>]>([])

  init(_ scheduler: TestScheduler) { self.scheduler = scheduler }

  /// The events so far.
  public var events: [Recorded<Event<Element>>] { recorded.withLock { $0 } }

  public func on(_ event: Event<Element>) {
    let time = scheduler.clock
    recorded.withLock { $0.append(Recorded(time: time, value: event)) }
  }
}

extension TestableObserver where Element: Equatable {
  /// Compares the recorded events with the expected ones. Returns nil if they are equal; otherwise the result
  /// of ``ReactorTesting/difference(of:from:)``.
  public func difference(from expected: [Recorded<Event<Element>>]) -> String? {
    ReactorTesting.difference(of: events, from: expected)
  }
}

/// Streams and observers in virtual time.
extension TestScheduler {
  /// Returns a stream that emits these events at these times, to the observers that are subscribed then.
  public func createHotObservable<Element>(
    _ events: [Recorded<Event<Element>>]
  ) -> TestableObservable<Element> {
    let stream = TestableObservable(.hot, events, self)
    for event in events { scheduleAt(event.time) { stream.emit(event.value) } }
    return stream
  }

  /// Returns a stream that emits these events to each observer, at these times after its subscription.
  public func createColdObservable<Element>(
    _ events: [Recorded<Event<Element>>]
  ) -> TestableObservable<Element> {
    TestableObservable(.cold, events, self)
  }

  /// Returns an observer that records the events it gets, and their times.
  public func createObserver<Element>(_ type: Element.Type) -> TestableObserver<Element> {
    TestableObserver(self)
  }

  /// Creates a stream, subscribes to it, and disposes of the subscription, each at the given time; and runs the
  /// scheduler as ``start()`` does.
  ///
  /// - Returns: The observer that recorded the events.
  public func start<Stream: ObservableConvertibleType>(
    created: TestTime, subscribed: TestTime, disposed: TestTime, create: @escaping @Sendable () -> Stream
  ) -> TestableObserver<Stream.Element> {
    let observer = createObserver(Stream.Element.self)
    let stream = SystemMutex<Observable<Stream.Element>?>(nil)
    let subscription = SerialDisposable()
    scheduleAt(created) {
      let made = create().asObservable()
      stream.withLock { $0 = made }
    }
    scheduleAt(subscribed) {
      guard let made = stream.withLock({ $0.take() }) else {
        fatalError("subscribed at \(subscribed), before it is created at \(created)")
      }
      subscription.disposable = made.subscribe(observer)
    }
    scheduleAt(disposed) { subscription.dispose() }
    start()
    return observer
  }

  /// Like ``start(created:subscribed:disposed:create:)``, created at 100 and subscribed to at 200.
  public func start<Stream: ObservableConvertibleType>(
    disposed: TestTime, create: @escaping @Sendable () -> Stream
  ) -> TestableObserver<Stream.Element> {
    start(created: Defaults.created, subscribed: Defaults.subscribed, disposed: disposed, create: create)
  }

  /// Like ``start(created:subscribed:disposed:create:)``, created at 100, subscribed to at 200 and disposed at
  /// 1000.
  public func start<Stream: ObservableConvertibleType>(
    _ create: @escaping @Sendable () -> Stream
  ) -> TestableObserver<Stream.Element> {
    start(disposed: Defaults.disposed, create: create)
  }
}
