import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// `debounce`, `throttle` and `timeout` in virtual time. A run subscribes at 200 and disposes at 1000.
@Suite struct QuietTimingTests {
  let scheduler = TestScheduler(initialClock: 0)

  private func events(
    of source: [Recorded<Event<Int>>], disposed: TestTime = 1000,
    _ operation: @escaping @Sendable (Observable<Int>, TestScheduler) -> Observable<Int>
  ) -> [Recorded<Event<Int>>] {
    let stream = scheduler.createHotObservable(source)
    return scheduler.start(disposed: disposed) { [scheduler] in
      operation(stream.asObservable(), scheduler)
    }.events
  }

  // MARK: Times that are too long

  /// Each operator with a time, and what it makes of 1, 2 and the completion if that time does not pass, or is over at once.
  static let timed:
    [(
      String, forever: [Int], atOnce: [Int],
      @Sendable (Observable<Int>, Duration, any SchedulerType) -> Observable<Int>
    )] =
      [
        ("delay", [], [1, 2], { $0.delay($1, scheduler: $2) }),
        ("debounce", [2], [1, 2], { $0.debounce($1, scheduler: $2) }),
        ("throttle", [1], [1, 2], { $0.throttle($1, scheduler: $2) }),
        ("timeout", [1, 2], [1, 2], { $0.timeout($1 <= .zero ? .seconds(20) : $1, scheduler: $2) }),
        ("take", [1, 2], [], { $0.take(for: $1, scheduler: $2) }),
        ("skip", [], [1, 2], { $0.skip($1, scheduler: $2) }),
        ("delaySubscription", [], [1, 2], { $0.delaySubscription($1, scheduler: $2) }),
      ]

  @Test(arguments: timed.indices)
  func `a time of any length can be given to an operator`(_ index: Int) {
    let (name, forever, atOnce, operation) = Self.timed[index]
    for (time, expected) in [
      (Duration(attoseconds: .max), forever), (.seconds(Int64.max), forever),
      (Duration(attoseconds: .min), atOnce),
      (.seconds(Int64.min), atOnce),
    ] {
      let scheduler = TestScheduler(initialClock: 0)
      let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .completed(230)])
      let events = scheduler.start { operation(source.asObservable(), time, scheduler) }.events
      #expect(events.compactMap(\.value.element) == expected, "\(name) of \(time)")
    }
  }

  @Test(arguments: timed.indices)
  func `a time of any length can be given to an operator outside of virtual time`(_ index: Int) {
    let (name, forever, _, operation) = Self.timed[index]
    let (subject, record) = (PublishSubject<Int>(), Record<Int>())
    let subscription = operation(subject.asObservable(), Duration(attoseconds: .max), Schedulers.timing)
      .subscribe(onNext: { record.append($0) })
    subject.onNext(1)
    subject.onNext(2)
    subject.onCompleted()
    subscription.dispose()
    #expect(record.elements == forever, "\(name)")
  }

  // MARK: debounce

  @Test func `debounce emits what nothing follows in time`() {
    let source: [Recorded<Event<Int>>] = [
      .next(210, 1), .next(220, 2), .next(245, 3), .next(300, 4), .next(310, 5), .next(315, 6),
      .completed(400),
    ]
    let events = events(of: source) { $0.debounce(.seconds(20), scheduler: $1) }
    #expect(events == [.next(240, 2), .next(265, 3), .next(335, 6), .completed(400)])
  }

  @Test func `debounce emits the last element at the completion`() {
    let events = events(of: [.next(210, 1), .next(220, 2), .completed(230)]) {
      $0.debounce(.seconds(20), scheduler: $1)
    }
    #expect(events == [.next(230, 2), .completed(230)])
  }

  @Test func `debounce discards the last element at an error`() {
    let events = events(of: [.next(210, 1), .next(220, 2), .error(230, RxError.unknown)]) {
      $0.debounce(.seconds(20), scheduler: $1)
    }
    #expect(events == [.error(230, RxError.unknown)])
  }

  @Test func `debounce goes on waiting if an element comes at the very moment`() {
    let events = events(of: [.next(210, 1), .next(230, 2), .next(250, 3)]) {
      $0.debounce(.seconds(20), scheduler: $1)
    }
    #expect(events == [.next(270, 3)])
  }

  @Test func `debounce waits for less than a tick as well as for more`() {
    let events = events(of: [.next(210, 1), .next(220, 2)]) {
      $0.debounce(.milliseconds(1400), scheduler: $1)
    }
    #expect(events == [.next(211, 1), .next(221, 2)])
  }

  @Test func `debounce outside of virtual time has one timer however fast the source is`() {
    let counting = CountingScheduler(scheduler)
    let elements: [Recorded<Event<Int>>] = (0..<500).map { .next(201 + $0 / 10, $0) }
    let source = scheduler.createHotObservable(elements + [.completed(900)])
    let observer = scheduler.start { source.debounce(.seconds(20), scheduler: counting) }
    #expect(observer.events == [.next(270, 499), .completed(900)])
    #expect(counting.count <= 4)
  }

  // What comes at the moment of the timer was scheduled after the newest element, with which the timer has to be started.
  @Test func `debounce emits an element before what was scheduled later for the same moment`() {
    let events = events(of: [.next(205, 1), .next(210, 2), .next(220, 3)]) {
      $0.delay(.seconds(5), scheduler: $1).debounce(.seconds(10), scheduler: $1)
    }
    #expect(events == [.next(225, 2), .next(235, 3)])
  }

  @Test func `debounce does not emit after the disposal`() {
    let events = events(of: [.next(210, 1)], disposed: 220) { $0.debounce(.seconds(20), scheduler: $1) }
    #expect(events.isEmpty)
  }

  // MARK: throttle

  private let burst: [Recorded<Event<Int>>] = [
    .next(210, 1), .next(220, 2), .next(230, 3), .next(290, 4), .next(330, 5), .next(600, 6), .completed(700),
  ]

  @Test func `throttle emits the first element at once and then the latest`() {
    let events = events(of: burst) { $0.throttle(.seconds(50), scheduler: $1) }
    #expect(
      events == [
        .next(210, 1), .next(260, 3), .next(310, 4), .next(360, 5), .next(600, 6), .completed(700),
      ])
  }

  @Test func `throttle without the latest drops what comes too early`() {
    let events = events(of: burst) { $0.throttle(.seconds(50), latest: false, scheduler: $1) }
    #expect(events == [.next(210, 1), .next(290, 4), .next(600, 6), .completed(700)])
  }

  @Test func `throttle completes after the element that waits`() {
    let source: [Recorded<Event<Int>>] = [.next(210, 1), .next(220, 2), .completed(230)]
    #expect(
      events(of: source) { $0.throttle(.seconds(50), scheduler: $1) }
        == [.next(210, 1), .next(260, 2), .completed(260)])
  }

  @Test func `throttle without the latest completes at once`() {
    let source: [Recorded<Event<Int>>] = [.next(210, 1), .next(220, 2), .completed(230)]
    #expect(
      events(of: source) { $0.throttle(.seconds(50), latest: false, scheduler: $1) }
        == [.next(210, 1), .completed(230)])
  }

  @Test func `throttle discards the element that waits at an error`() {
    let source: [Recorded<Event<Int>>] = [.next(210, 1), .next(220, 2), .error(230, RxError.unknown)]
    #expect(
      events(of: source) { $0.throttle(.seconds(50), scheduler: $1) }
        == [.next(210, 1), .error(230, RxError.unknown)])
  }

  @Test func `throttle ignores a timer that fires although it was replaced`() {
    let stubborn = StubbornScheduler()
    let observers = Record<AnyObserver<Int>>()
    let record = Record<Int>()
    Observable<Int>.create { observer in
      observers.append(observer)
      return Disposables.create()
    }
    .throttle(.seconds(50), scheduler: stubborn).subscribe(onNext: { record.append($0) })
    for (time, number) in [(0, 1), (10, 2), (100, 3), (110, 4)] {
      stubborn.time.append(.seconds(time))
      observers.elements[0].onNext(number)
    }
    #expect(record.elements == [1, 3])
    #expect(stubborn.actions.elements.count == 2)
    stubborn.actions.elements[0]()
    #expect(record.elements == [1, 3])
    stubborn.actions.elements[1]()
    #expect(record.elements == [1, 3, 4])
  }

  @Test func `throttle counts its pause from the moment when the observer has taken the element`() {
    let (subject, stubborn, record) = (PublishSubject<Int>(), StubbornScheduler(), Record<Int>())
    let subscription = subject.throttle(.seconds(50), latest: false, scheduler: stubborn)
      .subscribe(onNext: { number in
        record.append(number)
        if number == 1 { stubborn.time.append(.seconds(40)) }
      })
    for (time, number) in [(0, 1), (60, 2), (95, 3)] {
      if time > 0 { stubborn.time.append(.seconds(time)) }
      subject.onNext(number)
    }
    #expect(record.elements == [1, 3])
    subscription.dispose()
  }

  // MARK: timeout

  @Test func `timeout ignores the source after the other stream has been subscribed to`() {
    let observers = Record<AnyObserver<Int>>()
    let source = Observable<Int>.create { observer in
      observers.append(observer)
      return Disposables.create()
    }
    let other = Observable<Int>.create { observer in
      observers.elements[0].onNext(99)
      observer.onNext(7)
      return Disposables.create()
    }
    let observer = scheduler.start { [scheduler] in
      source.timeout(.seconds(50), other: other, scheduler: scheduler)
    }
    #expect(observer.events == [.next(250, 7)])
  }

  @Test func `timeout fails when nothing comes`() {
    let source = scheduler.createHotObservable([.next(260, 1)])
    let observer = scheduler.start { [scheduler] in source.timeout(.seconds(50), scheduler: scheduler) }
    #expect(observer.events == [.error(250, RxError.timeout)])
    #expect(source.subscriptions == [Subscription(200, 250)])
  }

  @Test func `timeout counts from the last element`() {
    let events = events(of: [.next(210, 1), .next(255, 2), .next(300, 3), .next(400, 4)]) {
      $0.timeout(.seconds(50), scheduler: $1)
    }
    #expect(events == [.next(210, 1), .next(255, 2), .next(300, 3), .error(350, RxError.timeout)])
  }

  @Test func `timeout is over when the source is`() {
    let events = events(of: [.next(210, 1), .completed(220)]) { $0.timeout(.seconds(50), scheduler: $1) }
    #expect(events == [.next(210, 1), .completed(220)])
    #expect(scheduler.clock == 1000)
  }

  @Test func `timeout goes on with the other stream and forgets the source`() {
    let source = scheduler.createHotObservable([.next(210, 1), .next(300, 2), .completed(310)])
    let other = scheduler.createColdObservable([.next(100, 7), .next(300, 8), .completed(400)])
    let observer = scheduler.start { [scheduler] in
      source.timeout(.seconds(50), other: other, scheduler: scheduler)
    }
    #expect(observer.events == [.next(210, 1), .next(360, 7), .next(560, 8), .completed(660)])
    #expect(source.subscriptions == [Subscription(200, 260)])
    #expect(other.subscriptions == [Subscription(260, 660)])
  }

  @Test func `timeout outside of virtual time has one timer however fast the source is`() {
    let counting = CountingScheduler(scheduler)
    let source = scheduler.createHotObservable((0..<500).map { .next(201 + $0 / 10, $0) })
    let observer = scheduler.start { source.timeout(.seconds(50), scheduler: counting) }
    #expect(observer.events.count == 501)
    #expect(observer.events.last == .error(300, RxError.timeout))
    #expect(counting.count == 2)
  }

  @Test func `timeout fires before what was scheduled later for the same moment`() {
    let events = events(of: [.next(201, 1), .next(208, 2), .next(218, 3)]) {
      $0.delay(.seconds(8), scheduler: $1).timeout(.seconds(10), scheduler: $1)
    }
    #expect(events == [.next(209, 1), .next(216, 2), .error(226, RxError.timeout)])
  }

  @Test func `timeout of a stream that is known does not fire`() {
    let observer = scheduler.start { [scheduler] in
      Observable.of(1, 2).timeout(.seconds(50), scheduler: scheduler)
    }
    #expect(observer.events == [.next(200, 1), .next(200, 2), .completed(200)])
  }
}

/// Counts the timers that are started. Operators do not know that its time is virtual.
private final class CountingScheduler: SchedulerType {
  private let scheduler: TestScheduler
  private let timers = Record<Duration>()

  init(_ scheduler: TestScheduler) { self.scheduler = scheduler }

  var count: Int { timers.elements.count }
  var now: Duration { scheduler.now }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { scheduler.schedule(action) }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    timers.append(delay)
    return scheduler.schedule(after: delay, action)
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { scheduler.schedulePeriodic(after: delay, every: period, action) }
}

/// A scheduler whose time the test sets. Disposal cancels nothing, as if each timer were firing when it is
/// cancelled.
private final class StubbornScheduler: SchedulerType {
  let time = Record<Duration>()
  let actions = Record<@Sendable () -> Void>()

  var now: Duration { time.elements.last ?? .zero }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { schedule(after: .zero, action) }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    actions.append(action)
    return Disposables.create()
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { schedule(after: delay, action) }
}
