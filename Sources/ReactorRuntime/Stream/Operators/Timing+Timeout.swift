extension ObservableType {
  /// The same stream, which fails with ``RxError/timeout`` if an element does not come in time.
  ///
  /// - Parameters:
  ///   - dueTime: How long after the subscription, or after the element before, an element or the end must
  ///     come.
  ///   - scheduler: Where it fails.
  public func timeout(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    timeout(dueTime, other: Observable.error(RxError.timeout), scheduler: scheduler)
  }

  /// The same stream, until an element does not come in time: from then on another one.
  ///
  /// - Parameters:
  ///   - dueTime: How long after the subscription, or after the element before, an element or the end must
  ///     come.
  ///   - other: What follows then.
  ///   - scheduler: Where that is subscribed to.
  public func timeout(
    _ dueTime: RxTimeInterval, other: some ObservableConvertibleType<Element>,
    scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    let operation = Timeout(dueTime: dueTime, other: other.asObservable())
    return TimedSubscription.stream(operation, of: asObservable(), on: scheduler)
  }
}

private struct Timeout<Element: Sendable>: TimedOperation {
  let dueTime: Duration
  let other: Observable<Element>
  private var due = Duration.zero
  /// Whether an element came since the timer was started: then that starts again instead of ending the
  /// source. So there is one timer, however fast the source is.
  private var hasHeard = false
  private var isSwitched = false

  init(dueTime: Duration, other: Observable<Element>) {
    self.dueTime = dueTime
    self.other = other
  }

  mutating func begin(_ subscription: TimedSubscription<Self>) { subscription.startTimer(after: dueTime) }

  mutating func receive(_ event: Event<Element>, _ subscription: TimedSubscription<Self>) {
    if isSwitched { return }
    subscription.sink.on(event)
    hasHeard = true
    due = subscription.now + dueTime
  }

  mutating func timerFired(_ subscription: TimedSubscription<Self>) {
    let now = subscription.now
    if hasHeard && due > now {
      hasHeard = false
      return subscription.startTimer(after: due - now)
    }
    isSwitched = true
    // The only source from now on, and the timer is over: what it says needs no serializer.
    let sink = subscription.sink
    subscription.replaceSource(by: other, AnyObserver { sink.on($0) })
  }
}
