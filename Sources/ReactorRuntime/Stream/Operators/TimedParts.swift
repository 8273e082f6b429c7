/// A part of a stream, by the time since the subscription.
extension ObservableType {
  /// Passes this stream on for a time, and then completes.
  ///
  /// - Parameters:
  ///   - duration: The time since the subscription.
  ///   - scheduler: Where the completion is delivered.
  public func take(
    for duration: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    TimedSubscription.stream(TakeFor(duration: duration), of: asObservable(), on: scheduler)
  }

  /// Leaves out the elements that come before a time has passed.
  ///
  /// - Parameters:
  ///   - duration: The time since the subscription.
  ///   - scheduler: The scheduler that measures it.
  public func skip(
    _ duration: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    TimedSubscription.stream(SkipFor(duration: duration), of: asObservable(), on: scheduler)
  }
}

private struct TakeFor<Element: Sendable>: TimedOperation {
  let duration: Duration

  mutating func begin(_ subscription: TimedSubscription<Self>) { subscription.startTimer(after: duration) }

  mutating func receive(_ event: Event<Element>, at _: Duration, _ subscription: TimedSubscription<Self>) {
    subscription.sink.on(event)
  }

  mutating func timerFired(_ subscription: TimedSubscription<Self>) { subscription.sink.complete() }
}

private struct SkipFor<Element: Sendable>: TimedOperation {
  let duration: Duration
  private var isOver = false

  init(duration: Duration) { self.duration = duration }

  mutating func begin(_ subscription: TimedSubscription<Self>) { subscription.startTimer(after: duration) }

  mutating func receive(_ event: Event<Element>, at _: Duration, _ subscription: TimedSubscription<Self>) {
    if isOver || event.isStopEvent { subscription.sink.on(event) }
  }

  func delivers(_ subscription: TimedSubscription<Self>) -> Bool { false }

  mutating func timerFired(_ subscription: TimedSubscription<Self>) { isOver = true }
}
