// Operators of time. Those with a source and a timer are a `TimedSubscription` with an operation.

/// RxSwift's name for the integers that ``Observable/interval(_:scheduler:)`` counts with.
public typealias RxAbstractInteger = FixedWidthInteger

// MARK: interval, timer

/// Streams that count.
extension Observable where Element: FixedWidthInteger {
  /// Counts from 0, one element after each period, without an end.
  ///
  /// The scheduler decides what happens to periods that pass while the observer is busy. The system's
  /// queues make one element of them.
  ///
  /// - Parameters:
  ///   - period: The time before the first element, and between two.
  ///   - scheduler: Where elements are delivered.
  public static func interval(
    _ period: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable { timer(period, period: period, scheduler: scheduler) }

  /// Sends 0 after a time, and completes; or, with a period, counts on without an end.
  ///
  /// - Parameters:
  ///   - dueTime: The time before the first element.
  ///   - period: The time between two elements; nil for only one element.
  ///   - scheduler: Where elements are delivered.
  public static func timer(
    _ dueTime: RxTimeInterval, period: RxTimeInterval? = nil,
    scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable {
    Observable { observer in
      let sink = Sink(observer)
      guard let period else {
        sink.hold(
          scheduler.schedule(after: dueTime) {
            sink.next(0)
            sink.complete()
          })
        return sink
      }
      // Schedulers do not run the action twice at the same time. The drain also orders the runs on whatever
      // threads they are.
      let counter = StatefulDrain<Element, Void>(0) { number, _ in
        sink.next(number)
        number &+= 1
      }
      sink.hold(
        scheduler.schedulePeriodic(after: dueTime, every: period) { if !sink.isOver { counter.submit(()) } })
      return sink
    }
  }
}

// MARK: delay

extension ObservableType {
  /// Delivers the same events, each a time later, in order. An error is not delayed, and discards the
  /// elements that have not been delivered.
  ///
  /// These are held in memory: as many elements as the source emits in that time.
  ///
  /// - Parameters:
  ///   - dueTime: How much later.
  ///   - scheduler: Where events are delivered, except an error.
  @inlinable
  public func delay(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    TimedSubscription.stream(Delay(dueTime: dueTime), of: asObservable(), on: scheduler)
  }

  /// Subscribes to this stream a time later.
  ///
  /// - Parameters:
  ///   - dueTime: How much later.
  ///   - scheduler: Where the stream is subscribed to.
  public func delaySubscription(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in
      let sink = Sink(observer)
      let subscription = SingleAssignmentDisposable()
      let timer = scheduler.schedule(after: dueTime) {
        source.run(AnyObserver { sink.on($0) }, heldBy: subscription)
      }
      sink.hold(Disposables.create(timer, subscription))
      return sink
    }
  }
}

@usableFromInline
struct Delay<Element: Sendable>: TimedOperation {
  @usableFromInline
  struct Waiting: Sendable {
    @usableFromInline let due: Duration
    @usableFromInline let event: Event<Element>

    @inlinable
    init(_ event: Event<Element>, due: Duration) { (self.due, self.event) = (due, event) }
  }

  @inlinable static var stampsEvents: Bool { true }

  @usableFromInline let dueTime: Duration
  @usableFromInline var waiting = WaitingElements<Waiting>()

  @inlinable
  init(dueTime: Duration) { self.dueTime = dueTime.limitedForSums }

  @inlinable
  mutating func receive(
    _ event: Event<Element>, at arrival: Duration, _ subscription: TimedSubscription<Self>
  ) {
    if case .error = event { return subscription.sink.on(event) }
    let due = arrival + dueTime
    waiting.append(Waiting(event, due: due))
    if waiting.count == 1 { subscription.startTimer(after: due - subscription.now) }
  }

  /// The timer is that of the first event, which is therefore due. Others that are due go with it.
  @inlinable
  mutating func timerFired(_ subscription: TimedSubscription<Self>) {
    let now = subscription.now
    var isFirst = true
    while let next = waiting.oldest, isFirst || next.due <= now {
      isFirst = false
      _ = waiting.takeFirst()
      subscription.sink.on(next.event)
      if subscription.sink.isOver { return }
    }
    // Not `now`: the observer may have taken long.
    if let next = waiting.oldest { subscription.startTimer(after: next.due - subscription.now) }
  }
}

// MARK: debounce

extension ObservableType {
  /// Delivers the elements that are not followed by another one within a time, each when that time has
  /// passed.
  ///
  /// When the source completes, the last element is delivered at once. An error discards it. Holds one
  /// element and one timer, however fast the source is. That timer runs on when an element comes; but in virtual
  /// time, each element starts it anew.
  ///
  /// - Parameters:
  ///   - dueTime: How long no other element must come.
  ///   - scheduler: Where elements are delivered, except the last one.
  @inlinable
  public func debounce(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    TimedSubscription.stream(Debounce(dueTime: dueTime), of: asObservable(), on: scheduler)
  }
}

@usableFromInline
struct Debounce<Element: Sendable>: TimedOperation {
  @usableFromInline let dueTime: Duration
  @usableFromInline var pending: Element?
  /// When the pending element is due.
  @usableFromInline var due = Duration.zero
  @usableFromInline var timer = Timer.none

  /// Except in virtual time, a newer element does not start another timer: the running one starts the next when it fires.
  @usableFromInline
  enum Timer: Sendable {
    case none
    case ofPending
    case ofEarlierElement
  }

  @inlinable
  init(dueTime: Duration) { self.dueTime = dueTime.limitedForSums }

  @inlinable
  mutating func receive(_ event: Event<Element>, at _: Duration, _ subscription: TimedSubscription<Self>) {
    switch event {
    case .next(let element):
      pending = element
      due = subscription.now + dueTime
      if timer == .none || subscription.hasVirtualTimer {
        timer = .ofPending
        subscription.startTimer(after: dueTime)
      } else {
        timer = .ofEarlierElement
      }
    case .error:
      subscription.sink.on(event)
    case .completed:
      if let last = pending.take() { subscription.sink.next(last) }
      subscription.sink.complete()
    }
  }

  @inlinable
  func delivers(_ subscription: TimedSubscription<Self>) -> Bool {
    timer == .ofPending || due <= subscription.now
  }

  @inlinable
  mutating func timerFired(_ subscription: TimedSubscription<Self>) {
    if !delivers(subscription) {
      timer = .ofPending
      return subscription.startTimer(after: due - subscription.now)
    }
    timer = .none
    if let element = pending.take() { subscription.sink.next(element) }
  }
}

// MARK: throttle

extension ObservableType {
  /// Delivers at most one element in a time: the first one at once, then, if `latest`, the last of those that
  /// came meanwhile when the time has passed.
  ///
  /// If an element waits when the source completes, it is still delivered, and the completion after it. An
  /// error discards it. Holds one element.
  ///
  /// - Parameters:
  ///   - dueTime: The time in which no second element is delivered.
  ///   - latest: Whether the last of the elements that came too early is delivered later. Otherwise they are
  ///     dropped.
  ///   - scheduler: Where elements are delivered that are delivered later.
  @inlinable
  public func throttle(
    _ dueTime: RxTimeInterval, latest: Bool = true, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    TimedSubscription.stream(Throttle(dueTime: dueTime, latest: latest), of: asObservable(), on: scheduler)
  }
}

@usableFromInline
struct Throttle<Element: Sendable>: TimedOperation {
  @usableFromInline let dueTime: Duration
  @usableFromInline let latest: Bool
  @usableFromInline var pending: Element?
  @usableFromInline var lastSent: Duration?
  @usableFromInline var isCompleted = false

  @inlinable
  init(dueTime: Duration, latest: Bool) {
    self.dueTime = dueTime.limitedForSums
    self.latest = latest
  }

  @inlinable
  mutating func receive(_ event: Event<Element>, at _: Duration, _ subscription: TimedSubscription<Self>) {
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

  @inlinable
  mutating func timerFired(_ subscription: TimedSubscription<Self>) {
    if let element = pending { send(element, subscription) }
    if isCompleted { subscription.sink.complete() }
  }

  @inlinable
  mutating func send(_ element: Element, _ subscription: TimedSubscription<Self>) {
    pending = nil
    subscription.sink.next(element)
    // Afterwards, so that an observer that takes long still gets its pause.
    lastSent = subscription.now
  }
}

// MARK: timeout

extension ObservableType {
  /// Delivers the same stream, and fails with ``RxError/timeout`` if an element does not come in time.
  ///
  /// - Parameters:
  ///   - dueTime: How long after the subscription, or after the element before, an element or a stop event
  ///     must come.
  ///   - scheduler: Where the failure is delivered.
  @inlinable
  public func timeout(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    timeout(dueTime, other: Observable.error(RxError.timeout), scheduler: scheduler)
  }

  /// Delivers the same stream, and goes on with another one if an element does not come in time.
  ///
  /// - Parameters:
  ///   - dueTime: How long after the subscription, or after the element before, an element or a stop event
  ///     must come.
  ///   - other: The stream that follows then.
  ///   - scheduler: Where that is subscribed to.
  @inlinable
  public func timeout(
    _ dueTime: RxTimeInterval, other: some ObservableConvertibleType<Element>,
    scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> {
    let operation = Timeout(dueTime: dueTime, other: other.asObservable())
    return TimedSubscription.stream(operation, of: asObservable(), on: scheduler)
  }
}

@usableFromInline
struct Timeout<Element: Sendable>: TimedOperation {
  @usableFromInline let dueTime: Duration
  @usableFromInline let other: Observable<Element>
  @usableFromInline var due = Duration.zero
  /// Whether an element came since the timer was started, except in virtual time. Then the timer starts again instead of
  /// ending the source. So there is one timer, however fast the source is.
  @usableFromInline var hasReceived = false
  @usableFromInline var isSwitched = false

  @inlinable
  init(dueTime: Duration, other: Observable<Element>) {
    self.dueTime = dueTime.limitedForSums
    self.other = other
  }

  @inlinable
  mutating func begin(_ subscription: TimedSubscription<Self>) { subscription.startTimer(after: dueTime) }

  @inlinable
  mutating func receive(_ event: Event<Element>, at _: Duration, _ subscription: TimedSubscription<Self>) {
    if isSwitched { return }
    subscription.sink.on(event)
    if subscription.hasVirtualTimer {
      if !subscription.sink.isOver { subscription.startTimer(after: dueTime) }
      return
    }
    hasReceived = true
    due = subscription.now + dueTime
  }

  @inlinable
  func delivers(_ subscription: TimedSubscription<Self>) -> Bool { !hasReceived || due <= subscription.now }

  @inlinable
  mutating func timerFired(_ subscription: TimedSubscription<Self>) {
    if !delivers(subscription) {
      hasReceived = false
      return subscription.startTimer(after: due - subscription.now)
    }
    isSwitched = true
    // From now on this is the only source, and there is no timer, so the events need no drain.
    let sink = subscription.sink
    subscription.replaceSource(by: other, AnyObserver { sink.on($0) })
  }
}
