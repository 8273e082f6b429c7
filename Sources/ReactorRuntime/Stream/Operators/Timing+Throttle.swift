extension ObservableType {
  /// At most one element in a time: the first at once, then, if `latest`, the last of those that came
  /// meanwhile as soon as the time is over.
  ///
  /// An element that waits when the source completes still comes, and the completion after it; an error
  /// discards it. Holds one element.
  ///
  /// - Parameters:
  ///   - dueTime: How long there is no second one.
  ///   - latest: Whether the last of those that came too early is delivered later; else they are dropped.
  ///   - scheduler: Where elements are delivered that come later.
  public func throttle(
    _ dueTime: RxTimeInterval, latest: Bool = true, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    TimedSubscription.stream(Throttle(dueTime: dueTime, latest: latest), of: asObservable(), on: scheduler)
  }
}

private struct Throttle<Element: Sendable>: TimedOperation {
  let dueTime: Duration
  let latest: Bool
  private var pending: Element?
  private var lastSent: Duration?
  private var isCompleted = false

  init(dueTime: Duration, latest: Bool) {
    self.dueTime = dueTime
    self.latest = latest
  }

  mutating func receive(_ event: Event<Element>, _ subscription: TimedSubscription<Self>) {
    switch event {
    case .next(let element):
      let left = lastSent.map { $0 + dueTime - subscription.now } ?? .zero
      if left <= .zero {
        send(element, subscription)
      } else if latest {
        if pending == nil { subscription.startTimer(after: left) }
        pending = element
      }
    case .error:
      subscription.sink.on(event)
    case .completed:
      isCompleted = true
      if pending == nil { subscription.sink.complete() }
    }
  }

  mutating func timerFired(_ subscription: TimedSubscription<Self>) {
    if let element = pending { send(element, subscription) }
    if isCompleted { subscription.sink.complete() }
  }

  private mutating func send(_ element: Element, _ subscription: TimedSubscription<Self>) {
    pending = nil
    subscription.sink.next(element)
    // Afterwards: an observer that takes long still gets its pause.
    lastSent = subscription.now
  }
}
