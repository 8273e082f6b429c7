import ReactorCore
import Synchronization

/// What an operator with a source and a timer does: a state, and what happens to it.
///
/// The functions are called one at a time. They pass events on to `subscription.sink`, and start the timer by
/// `subscription.startTimer(after:)`.
@usableFromInline
protocol TimedOperation<Element>: Sendable {
  associatedtype Element: Sendable

  /// Whether ``receive(_:at:_:)`` needs the time at which an event has come.
  static var stampsEvents: Bool { get }

  /// Called at the subscription, before the source is subscribed to.
  mutating func begin(_ subscription: TimedSubscription<Self>)
  /// Called with each event of the source.
  ///
  /// - Parameter arrival: When the event has come, which may be earlier than now: it has waited while the observer was busy.
  ///   Zero unless ``stampsEvents``.
  mutating func receive(
    _ event: Event<Element>, at arrival: Duration, _ subscription: TimedSubscription<Self>)
  /// Whether ``timerFired(_:)`` would deliver something. Otherwise it may be called on any thread.
  func delivers(_ subscription: TimedSubscription<Self>) -> Bool
  /// Called when the timer has fired that was started last.
  mutating func timerFired(_ subscription: TimedSubscription<Self>)
}

extension TimedOperation {
  @inlinable static var stampsEvents: Bool { false }

  @inlinable
  func delivers(_ subscription: TimedSubscription<Self>) -> Bool { true }

  @inlinable
  mutating func begin(_ subscription: TimedSubscription<Self>) {}
}

/// One subscription of an operator with a source and a timer.
///
/// The source and the timer run on different threads. A ``StatefulDrain`` makes one sequence of their
/// signals, so no lock is held while an observer runs. When the subscription ends, the timer is cancelled,
/// and the operation is destroyed with whatever elements it holds.
///
/// What the timer causes is delivered where the scheduler runs it. If it fires while the source's thread is in the drain, that thread
/// does not deliver it, but starts the timer again. It does so at least twice, and for ten milliseconds: a source that is
/// hardly ever out of the drain must not keep the timer from its effect.
@usableFromInline
final class TimedSubscription<Operation: TimedOperation>: Sendable {
  @usableFromInline
  enum Signal: Sendable {
    case begin
    case event(Event<Operation.Element>, at: Duration)
    case timer(Firing)
  }

  /// That a timer has fired.
  @usableFromInline
  struct Firing: Sendable {
    @usableFromInline let number: Int
    /// The thread on which it has fired, as its token.
    @usableFromInline let thread = CurrentCore.threadToken
    /// How often it was started again, and when it fired after the first of these starts. The time before that does not count: the
    /// source's thread may have taken long until it saw the firing.
    @usableFromInline var attempt = 0
    @usableFromInline var start = MonotonicTime.now

    @inlinable
    init(number: Int) { self.number = number }

    @inlinable var isLate: Bool { attempt >= 2 && MonotonicTime.now - start > 10_000_000 }

    /// The firing of this timer when it was started once more. Made by the thread on which it fires.
    @inlinable var again: Firing {
      var firing = Firing(number: number)
      firing.attempt = attempt + 1
      if attempt > 0 { firing.start = start }
      return firing
    }
  }

  /// A signal with the subscription that it concerns, so that the drain need not retain its owner.
  @usableFromInline
  struct Input: Sendable {
    @usableFromInline let signal: Signal
    @usableFromInline let subscription: TimedSubscription

    @inlinable
    init(_ signal: Signal, _ subscription: TimedSubscription) {
      (self.signal, self.subscription) = (signal, subscription)
    }
  }

  @usableFromInline let sink: Sink<Operation.Element>
  @usableFromInline let scheduler: any SchedulerType
  /// Whether the timer is one of virtual time.
  ///
  /// Elsewhere an operation may let the timer run on when it is to fire later, and start the next one when it has fired. Not in virtual
  /// time: actions of one moment run in the order in which they were scheduled, so a timer that is started late runs after them.
  @usableFromInline let hasVirtualTimer: Bool
  @usableFromInline let drain: StatefulDrain<Operation, Input>
  @usableFromInline let source = SerialDisposable()
  @usableFromInline let timer = SerialDisposable()
  /// The number of the newest timer. It tells that timer from an earlier one that was cancelled while it
  /// fired. Relaxed: only the drainer touches it, and the drain orders one drainer after the other.
  @usableFromInline let timers = Atomic(0)

  @inlinable
  init(_ operation: Operation, _ scheduler: any SchedulerType, _ sink: Sink<Operation.Element>) {
    self.sink = sink
    self.scheduler = scheduler
    hasVirtualTimer = scheduler is any VirtualTimeSchedulerType
    drain = StatefulDrain(operation) { operation, input in
      input.subscription.handle(input.signal, &operation)
    }
  }

  /// Returns the stream that `operation` makes of a source.
  @inlinable
  static func stream(
    _ operation: Operation, of source: Observable<Operation.Element>, on scheduler: any SchedulerType
  ) -> Observable<Operation.Element> {
    Observable { observer in
      let sink = Sink(observer)
      let subscription = TimedSubscription(operation, scheduler, sink)
      // Before the source is subscribed to, which may take long: if the sink ends meanwhile, so does the
      // timer. The drain is disposed of first: this releases a thread blocked in `submit`, for which disposing of
      // its source may wait.
      sink.hold(Disposables.create(subscription.drain, subscription.source, subscription.timer))
      // Reserves the slot before subscribing, because the operation may replace the source during the
      // subscription.
      let first = SingleAssignmentDisposable()
      subscription.source.disposable = first
      subscription.submit(.begin)
      first.hold(
        source.run(
          AnyObserver { event in
            subscription.submit(.event(event, at: Operation.stampsEvents ? subscription.now : .zero))
          }))
      return sink
    }
  }

  /// The scheduler's time.
  @inlinable var now: Duration { scheduler.now }

  /// Starts the timer, in the place of one that may be running. Called by the operation.
  @inlinable
  func startTimer(after delay: Duration) {
    let number = timers.wrappingAdd(1, ordering: .relaxed).newValue
    timer.disposable = scheduler.schedule(after: max(delay, .zero)) {
      self.submit(.timer(Firing(number: number)))
    }
  }

  /// Disposes of the source and subscribes to another one, whose events need no drain. Called by the operation, the last time.
  @inlinable
  func replaceSource(by other: Observable<Operation.Element>, _ observer: AnyObserver<Operation.Element>) {
    // First: a source that is blocked in `submit` could not end before its disposal, which may wait for it.
    drain.dispose()
    other.joiningQueue { source.disposable = other.run(observer) }
  }

  @inlinable
  func submit(_ signal: Signal) {
    if !sink.isOver { drain.submit(Input(signal, self)) }
  }

  @inlinable
  func handle(_ signal: Signal, _ operation: inout Operation) {
    if sink.isOver { return }
    switch signal {
    case .begin: operation.begin(self)
    case .event(let event, let arrival): operation.receive(event, at: arrival, self)
    case .timer(let firing):
      if firing.number == timers.load(ordering: .relaxed) { handle(firing, &operation) }
    }
  }

  @inlinable
  func handle(_ firing: Firing, _ operation: inout Operation) {
    if firing.thread == CurrentCore.threadToken || firing.isLate || hasVirtualTimer
      || !operation.delivers(self)
    {
      return operation.timerFired(self)
    }
    timer.disposable = scheduler.schedule(after: .zero) {
      self.submit(.timer(firing.again))
    }
  }
}

extension Duration {
  /// The time of an operator, such that a scheduler's time can be added to it. Of a negative time, zero, which means the same.
  @inlinable
  var limitedForSums: Duration { min(max(self, .zero), .seconds(Int64.max)) }
}
