extension ObservableType {
  /// The same events, each a time later, in order. An error is not delayed, and discards what is under way.
  ///
  /// What is under way is held in memory: as many elements as the source emits in that time.
  ///
  /// - Parameters:
  ///   - dueTime: How much later.
  ///   - scheduler: Where they are delivered, but for an error.
  public func delay(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    TimedSubscription.stream(Delay(dueTime: dueTime), of: asObservable(), on: scheduler)
  }

  /// The same stream, subscribed to a time later.
  ///
  /// - Parameters:
  ///   - dueTime: How much later.
  ///   - scheduler: Where it is subscribed to.
  public func delaySubscription(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in
      let sink = Sink(observer)
      let subscription = SingleAssignmentDisposable()
      let timer = scheduler.schedule(after: dueTime) {
        subscription.hold(source.run(AnyObserver { sink.on($0) }))
      }
      sink.hold(Disposables.create(timer, subscription))
      return sink
    }
  }
}

private struct Delay<Element: Sendable>: TimedOperation {
  private struct Waiting: Sendable {
    let due: Duration
    let event: Event<Element>
  }

  let dueTime: Duration
  /// From `first` on, oldest first; those before have been delivered.
  private var waiting: [Waiting?] = []
  private var first = 0

  init(dueTime: Duration) { self.dueTime = dueTime }

  mutating func receive(_ event: Event<Element>, _ subscription: TimedSubscription<Self>) {
    if case .error = event { return subscription.sink.on(event) }
    waiting.append(Waiting(due: subscription.now + dueTime, event: event))
    if waiting.count - first == 1 { subscription.startTimer(after: dueTime) }
  }

  /// The first is due: the timer is its. What else is due goes with it.
  mutating func timerFired(_ subscription: TimedSubscription<Self>) {
    let now = subscription.now
    var isFirst = true
    while let next = next, isFirst || next.due <= now {
      isFirst = false
      removeFirst()
      subscription.sink.on(next.event)
      if subscription.sink.isOver { return }
    }
    if let next { subscription.startTimer(after: next.due - now) }
  }

  private var next: Waiting? { first < waiting.count ? waiting[first] : nil }

  /// Amortised O(1).
  private mutating func removeFirst() {
    waiting[first] = nil
    first += 1
    if first * 2 >= waiting.count {
      waiting.removeFirst(first)
      first = 0
    }
  }
}
