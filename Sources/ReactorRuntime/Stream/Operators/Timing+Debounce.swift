extension ObservableType {
  /// The elements that no other follows within a time, each when that has passed.
  ///
  /// When the source completes, the last element comes at once; an error discards it. Holds one element, and
  /// one timer, however fast the source is.
  ///
  /// - Parameters:
  ///   - dueTime: How long it must be quiet.
  ///   - scheduler: Where elements are delivered, but for the last.
  public func debounce(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    TimedSubscription.stream(Debounce(dueTime: dueTime), of: asObservable(), on: scheduler)
  }
}

private struct Debounce<Element: Sendable>: TimedOperation {
  let dueTime: Duration
  private var pending: Element?
  /// When the pending element is due.
  private var due = Duration.zero
  private var timer = Timer.none

  /// A newer element does not start another timer: the one that runs does that when it fires.
  private enum Timer {
    case none
    case ofPending
    case ofOneBefore
  }

  init(dueTime: Duration) { self.dueTime = dueTime }

  mutating func receive(_ event: Event<Element>, _ subscription: TimedSubscription<Self>) {
    switch event {
    case .next(let element):
      pending = element
      due = subscription.now + dueTime
      if timer == .none {
        timer = .ofPending
        subscription.startTimer(after: dueTime)
      } else {
        timer = .ofOneBefore
      }
    case .error:
      subscription.sink.on(event)
    case .completed:
      if let last = pending.take() { subscription.sink.next(last) }
      subscription.sink.complete()
    }
  }

  mutating func timerFired(_ subscription: TimedSubscription<Self>) {
    let now = subscription.now
    if timer == .ofOneBefore && due > now {
      timer = .ofPending
      return subscription.startTimer(after: due - now)
    }
    timer = .none
    if let element = pending.take() { subscription.sink.next(element) }
  }
}
