import ReactorCore
import ReactorRuntime

/// Streams and observers that know the time.
extension TestScheduler {
  /// A stream that tells these events at these times, to whoever is subscribed then.
  public func createHotObservable<Element>(
    _ events: [Recorded<Event<Element>>]
  ) -> TestableObservable<Element> {
    let stream = TestableObservable(.hot, events, self)
    for event in events { scheduleAt(event.time) { stream.tell(event.value) } }
    return stream
  }

  /// A stream that tells these events to each subscriber, at these times after the subscription.
  public func createColdObservable<Element>(
    _ events: [Recorded<Event<Element>>]
  ) -> TestableObservable<Element> {
    TestableObservable(.cold, events, self)
  }

  /// An observer that records what it is told, and when.
  public func createObserver<Element>(_ type: Element.Type) -> TestableObserver<Element> {
    TestableObserver(self)
  }

  /// Makes a stream, subscribes to it and disposes of the subscription at the times that it is told, while
  /// time goes by as in ``start()``.
  ///
  /// - Returns: What recorded the events.
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
        preconditionFailure("subscribed at \(subscribed), before it is created at \(created)")
      }
      subscription.disposable = made.subscribe(observer)
    }
    scheduleAt(disposed) { subscription.dispose() }
    start()
    return observer
  }

  /// As ``start(created:subscribed:disposed:create:)``; created at 100 and subscribed to at 200.
  public func start<Stream: ObservableConvertibleType>(
    disposed: TestTime, create: @escaping @Sendable () -> Stream
  ) -> TestableObserver<Stream.Element> {
    start(created: Defaults.created, subscribed: Defaults.subscribed, disposed: disposed, create: create)
  }

  /// As ``start(created:subscribed:disposed:create:)``; created at 100, subscribed to at 200 and disposed at
  /// 1000.
  public func start<Stream: ObservableConvertibleType>(
    _ create: @escaping @Sendable () -> Stream
  ) -> TestableObserver<Stream.Element> {
    start(disposed: Defaults.disposed, create: create)
  }
}
