import Synchronization

/// What an operator with a source and a timer does: a state, and what happens to it.
///
/// One call at a time; `subscription` passes events on and has the timer.
protocol TimedOperation<Element>: Sendable {
  associatedtype Element: Sendable

  /// When somebody subscribes, before the source is subscribed to.
  mutating func begin(_ subscription: TimedSubscription<Self>)
  /// The source says something.
  mutating func receive(_ event: Event<Element>, _ subscription: TimedSubscription<Self>)
  /// The timer that was started last has fired.
  mutating func timerFired(_ subscription: TimedSubscription<Self>)
}

extension TimedOperation {
  mutating func begin(_ subscription: TimedSubscription<Self>) {}
}

/// One subscription of an operator with a source and a timer.
///
/// Source and timer run on different threads; a ``StatefulDrain`` makes one sequence of them, so no lock is held
/// while an observer runs. When the subscription ends, the timer is cancelled, and the operation with
/// whatever elements it holds is destroyed.
final class TimedSubscription<Operation: TimedOperation>: Sendable {
  private enum Signal: Sendable {
    case begin
    case event(Event<Operation.Element>)
    case timer(Int)
  }

  /// A signal and whom it concerns: so the serializer needs no reference to who owns it.
  private struct Input: Sendable {
    let signal: Signal
    let subscription: TimedSubscription
  }

  let sink: Sink<Operation.Element>
  private let scheduler: any SchedulerType
  private let drain: StatefulDrain<Operation, Input>
  private let source = SerialDisposable()
  private let timer = SerialDisposable()
  /// Tells the timer's firing from that of one before, which may be on its way when that is cancelled.
  /// Relaxed: only the one who handles touches it.
  private let timers = Atomic(0)

  private init(_ operation: Operation, _ scheduler: any SchedulerType, _ sink: Sink<Operation.Element>) {
    self.sink = sink
    self.scheduler = scheduler
    drain = StatefulDrain(operation) { operation, input in
      input.subscription.handle(input.signal, &operation)
    }
  }

  /// The stream of what `operation` makes of a source.
  static func stream(
    _ operation: Operation, of source: Observable<Operation.Element>, on scheduler: any SchedulerType
  ) -> Observable<Operation.Element> {
    Observable { observer in
      let sink = Sink(observer)
      let subscription = TimedSubscription(operation, scheduler, sink)
      // Before the source is asked, which may be long in answering: then the end of the sink ends the timer
      // as well.
      sink.hold(
        Disposables.create(subscription.source, subscription.timer, subscription.drain))
      // Its place is taken before it is there: the operation may replace it while it is being made.
      let first = SingleAssignmentDisposable()
      subscription.source.disposable = first
      subscription.submit(.begin)
      first.hold(source.run(AnyObserver { subscription.submit(.event($0)) }))
      return sink
    }
  }

  /// The scheduler's time.
  var now: Duration { scheduler.now }

  /// Starts the timer, instead of the one that may be running.
  func startTimer(after delay: Duration) {
    let number = timers.wrappingAdd(1, ordering: .relaxed).newValue
    timer.disposable = scheduler.schedule(after: max(delay, .zero)) { self.submit(.timer(number)) }
  }

  /// Stands on another source from now on.
  func replaceSource(by other: Observable<Operation.Element>, _ observer: AnyObserver<Operation.Element>) {
    source.disposable = other.run(observer)
  }

  private func submit(_ signal: Signal) {
    if !sink.isOver { drain.submit(Input(signal: signal, subscription: self)) }
  }

  private func handle(_ signal: Signal, _ operation: inout Operation) {
    if sink.isOver { return }
    switch signal {
    case .begin: operation.begin(self)
    case .event(let event): operation.receive(event, self)
    case .timer(let number): if number == timers.load(ordering: .relaxed) { operation.timerFired(self) }
    }
  }
}
