import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport

/// A fault of a stream, for the test that each is found.
public enum StreamsFault: Sendable, CaseIterable {
  case goesOnAfterItsEnd
  case endsTwice
  case losesElements
  case doublesElements
  case losesTheEnd
  case completesForAnError
  case ignoresDisposal
  case keepsElements
}

extension FuzzProperty {
  /// In virtual time, streams of random operators send what plain closures send: the same events in the same order,
  /// and nothing after a stop event or the disposal. A disposed subscription leaves no observer behind, and no
  /// element outlives the streams.
  public static let streams = streams(nil)

  public static func streams(_ fault: StreamsFault?) -> FuzzProperty {
    FuzzProperty("streams") { bytes throws(Mismatch) in
      let lifetimes = Lifetimes()
      let kept = Record<LifetimeTracked>()
      let log = try StreamsRun.run(StreamsCase(bytes), lifetimes, fault, kept)
      try log.expect(
        lifetimes.alive, is: 0, "the number of elements (\(kept.elements.count) on purpose) that outlive all")
    }
  }
}

/// The events that one observer received.
private final class StreamsObserver: @unchecked Sendable {
  // Unchecked: there is only one thread.
  var told: [ReferenceEvent] = []
  var expected: [ReferenceEvent] = []
  var end: () -> Void = {}
  var subscription: (any Disposable)?
}

/// One stream beside its reference.
private final class StreamsRun: @unchecked Sendable {
  // Unchecked: there is only one thread.
  private let lifetimes: Lifetimes
  private let scheduler = TestScheduler(initialClock: 0)
  private let clock = ReferenceClock()
  private let subjects: [any StreamSubject]
  private let references: [ReferenceSubject]
  private let stream: Observable<LifetimeTracked>
  private let reference: ReferenceStream
  private let turns: ReferenceTurns
  private var observers: [StreamsObserver] = []
  private let pipe: Pipe
  /// Elements that a fault leaks.
  private let kept: Record<LifetimeTracked>
  private let fault: StreamsFault?
  private var log = FuzzLog<String>()

  private init(
    _ streamsCase: StreamsCase, _ lifetimes: Lifetimes, _ fault: StreamsFault?,
    _ kept: Record<LifetimeTracked>
  ) {
    self.lifetimes = lifetimes
    self.kept = kept
    self.fault = fault
    pipe = streamsCase.pipe
    subjects = [
      PublishSubject<LifetimeTracked>(), PublishSubject<LifetimeTracked>(),
      BehaviorSubject(value: lifetimes.track(5)), ReplaySubject<LifetimeTracked>.create(bufferSize: 2),
    ]
    references = [
      ReferenceSubject(limit: 0), ReferenceSubject(limit: 0), ReferenceSubject(limit: 1, [5]),
      ReferenceSubject(limit: 2, replaysAfterEnd: true),
    ]
    stream = ObservableMaker(subjects: subjects, scheduler: scheduler, lifetimes: lifetimes).stream(pipe)
    let maker = ReferenceMaker(subjects: references, clock: clock)
    reference = maker.stream(pipe)
    turns = maker.turns
  }

  static func run(
    _ streamsCase: StreamsCase, _ lifetimes: Lifetimes, _ fault: StreamsFault?,
    _ kept: Record<LifetimeTracked>
  ) throws(Mismatch) -> FuzzLog<String> {
    let run = StreamsRun(streamsCase, lifetimes, fault, kept)
    run.log.append("of \(run.pipe)")
    defer { for observer in run.observers { run.dispose(observer) } }
    for operation in streamsCase.operations where !run.isExhausted {
      run.log.append("\(operation)")
      run.perform(operation)
      try run.compare()
    }
    for observer in run.observers { run.dispose(observer) }
    try run.compare()
    for (number, subject) in run.subjects.enumerated() {
      try run.log.expect(
        subject.hasObservers, is: false, "whether subject \(number) has observers in the end")
    }
    return run.log
  }

  /// Each element of a `flatMap` may subscribe to the subjects once more, so the work may grow without bound, and
  /// without showing anything new.
  private var isExhausted: Bool { references.reduce(0) { $0 + $1.toldCount } > 1000 }

  private func perform(_ operation: StreamsOperation) {
    switch operation {
    case .next(let value, let number):
      subjects[number].onNext(lifetimes.track(value))
      references[number].on(.next(value))
    case .error(let number):
      subjects[number].onError(TestFailure())
      references[number].on(.error)
    case .complete(let number):
      subjects[number].onCompleted()
      references[number].on(.completed)
    case .advance(let ticks):
      scheduler.advanceBy(ticks)
      clock.advance(ticks)
    case .subscribe(let limit): subscribe(limit: limit)
    case .dispose(let which): if !observers.isEmpty { dispose(observers[which % observers.count]) }
    }
  }

  private func subscribe(limit: Int?) {
    // A few show as much as many.
    if observers.count == 5 { return }
    let observer = StreamsObserver()
    observers.append(observer)
    let subscription = SerialDisposable()
    observer.subscription = subscription
    subscription.disposable = stream.subscribe { [unowned self] event in
      observer.told += heard(event, after: observer.told.count)
      if observer.told.count == limit { subscription.dispose() }
    }
    let sink = ReferenceSink { observer.expected.append($0) }
    observer.end = { sink.dispose() }
    var isSubscribing = true
    var end: () -> Void = {}
    turns.join {
      end = reference { event in
        sink.on(event)
        if observer.expected.count == limit, !isSubscribing { sink.dispose() }
      }
    }
    isSubscribing = false
    sink.own(end)
    // The disposal cannot stop events that are sent before the subscription has returned.
    if let limit, observer.expected.count >= limit { sink.dispose() }
  }

  private func dispose(_ observer: StreamsObserver) {
    if fault != .ignoresDisposal { observer.subscription?.dispose() }
    observer.end()
    observer.end = {}
  }

  private func compare() throws(Mismatch) {
    for (number, observer) in observers.enumerated() where observer.told != observer.expected {
      throw log.mismatch(
        "observer \(number) was told \(observer.told), and must be told \(observer.expected).")
    }
  }

  // MARK: Faults

  /// Returns what an observer receives of an event.
  private func heard(_ event: Event<LifetimeTracked>, after count: Int) -> [ReferenceEvent] {
    let event: ReferenceEvent =
      switch event {
      case .next(let element):
        keep(element)
      case .error: .error
      case .completed: .completed
      }
    let isEighth = count % 8 == 7
    return switch (fault, event) {
    case (.losesElements, .next) where isEighth: []
    case (.doublesElements, .next) where isEighth: [event, event]
    case (.endsTwice, .completed): [event, event]
    case (.goesOnAfterItsEnd, .error): [event, .next(0)]
    case (.losesTheEnd, .completed): []
    case (.completesForAnError, .error): [.completed]
    default: [event]
    }
  }

  private func keep(_ element: LifetimeTracked) -> ReferenceEvent {
    if fault == .keepsElements { kept.append(element) }
    return .next(element.value)
  }
}
