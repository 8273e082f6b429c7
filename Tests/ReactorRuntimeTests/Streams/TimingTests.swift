import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// `delay`, `delaySubscription`, `interval` and `timer` in virtual time. A run subscribes at 200 and disposes
/// at 1000.
@Suite struct TimingTests {
  let scheduler = TestScheduler(initialClock: 0)

  private func hot(_ events: [Recorded<Event<Int>>]) -> TestableObservable<Int> {
    scheduler.createHotObservable(events)
  }

  // MARK: delay

  @Test func `delay shifts elements and the completion`() {
    let source = hot([.next(150, 0), .next(210, 1), .next(215, 2), .next(400, 3), .completed(410)])
    let observer = scheduler.start { [scheduler] in source.delay(.seconds(50), scheduler: scheduler) }
    #expect(
      observer.events == [.next(260, 1), .next(265, 2), .next(450, 3), .completed(460)])
    #expect(source.subscriptions == [Subscription(200, 410)])
  }

  @Test func `delay keeps the order of elements of the same time`() {
    let source = hot([.next(210, 1), .next(210, 2), .next(210, 3), .completed(210)])
    let observer = scheduler.start { [scheduler] in source.delay(.seconds(50), scheduler: scheduler) }
    #expect(observer.events == [.next(260, 1), .next(260, 2), .next(260, 3), .completed(260)])
  }

  @Test func `delay passes an error on at once and discards the delayed elements`() {
    let source = hot([.next(210, 1), .next(250, 2), .error(270, RxError.unknown)])
    let observer = scheduler.start { [scheduler] in source.delay(.seconds(50), scheduler: scheduler) }
    #expect(observer.events == [.next(260, 1), .error(270, RxError.unknown)])
    #expect(source.subscriptions == [Subscription(200, 270)])
  }

  @Test func `delay delivers nothing after the disposal and releases the delayed elements at once`() {
    let lifetimes = Lifetimes()
    let source = scheduler.createHotObservable([.next(210, lifetimes.track()), .next(220, lifetimes.track())])
    let record = Record<Int>()
    // The source and its observer retain these as long as the test runs.
    let observers = Record<AnyObserver<LifetimeTracked>>()
    let stream = Observable<LifetimeTracked>.create { observer in
      observers.append(observer)
      return Disposables.create()
    }
    let subscription = stream.delay(.seconds(50), scheduler: scheduler)
      .subscribe(onNext: { record.append($0.value) })
    for _ in 0..<100 { observers.elements[0].onNext(lifetimes.track()) }
    #expect(lifetimes.alive == 102)
    subscription.dispose()
    #expect(lifetimes.alive == 2)
    scheduler.start()
    #expect(record.elements.isEmpty)
    withExtendedLifetime(source) {}
  }

  @Test func `delay releases each element that it has delivered`() {
    let lifetimes = Lifetimes()
    let subject = PublishSubject<LifetimeTracked>()
    let subscription = subject.asObservable().delay(.seconds(90), scheduler: scheduler).subscribe()
    for _ in 0..<12 {
      subject.onNext(lifetimes.track())
      scheduler.advanceBy(10)
    }
    // The first four are due: at 90, 100, 110 and 120. They are a small part, so the others keep their places.
    #expect(lifetimes.alive == 8)
    subscription.dispose()
    #expect(lifetimes.alive == 0)
  }

  @Test func `delay keeps the order with a slow observer`() {
    let scheduler = scheduler
    let source = hot((210..<260).map { .next($0, $0) } + [.completed(260)])
    let observer = scheduler.createObserver(Int.self)
    source.delay(.seconds(10), scheduler: scheduler).subscribe { event in
      // Time passes while it runs.
      scheduler.sleep(7)
      observer.on(event)
    }
    scheduler.start()
    #expect(observer.events.compactMap(\.value.element) == Array(210..<260))
    #expect(observer.events.last?.value == .completed)
  }

  // MARK: delaySubscription

  @Test func `delaySubscription subscribes later`() {
    let source = hot([.next(210, 1), .next(260, 2), .completed(300)])
    let observer = scheduler.start { [scheduler] in
      source.delaySubscription(.seconds(50), scheduler: scheduler)
    }
    #expect(observer.events == [.next(260, 2), .completed(300)])
    #expect(source.subscriptions == [Subscription(250, 300)])
  }

  @Test func `delaySubscription does not subscribe after the disposal`() {
    let source = hot([.next(260, 2)])
    let observer = scheduler.start(disposed: 240) { [scheduler] in
      source.delaySubscription(.seconds(50), scheduler: scheduler)
    }
    #expect(observer.events.isEmpty)
    #expect(source.subscriptions.isEmpty)
  }

  // MARK: interval and timer

  @Test func `interval counts from 0, first after one period`() {
    let observer = scheduler.start { [scheduler] in
      Observable<Int>.interval(.seconds(200), scheduler: scheduler)
    }
    #expect(observer.events == [.next(400, 0), .next(600, 1), .next(800, 2)])
  }

  @Test func `interval ends with its subscription`() {
    let lifetimes = Lifetimes()
    let holder = SerialDisposable()
    let record = Record<Int8>()
    holder.disposable = Observable<Int8>.interval(.seconds(1), scheduler: scheduler)
      .subscribe(onNext: { [tracked = lifetimes.track()] number in
        record.append(number + Int8(tracked.value))
        if record.elements.count == 130 { holder.dispose() }
      })
    scheduler.start()
    #expect(scheduler.clock == 130)
    // The counter wraps around.
    #expect(record.elements.suffix(4) == [126, 127, -128, -127])
    #expect(lifetimes.alive == 0)
  }

  @Test func `timer emits once and completes`() {
    let observer = scheduler.start { [scheduler] in
      Observable<Int>.timer(.seconds(50), scheduler: scheduler)
    }
    #expect(observer.events == [.next(250, 0), .completed(250)])
  }

  @Test func `timer with a period counts on`() {
    let observer = scheduler.start { [scheduler] in
      Observable<Int>.timer(.seconds(50), period: .seconds(300), scheduler: scheduler)
    }
    #expect(observer.events == [.next(250, 0), .next(550, 1), .next(850, 2)])
  }

  @Test func `a disposed timer does not emit`() {
    let observer = scheduler.start(disposed: 240) { [scheduler] in
      Observable<Int>.timer(.seconds(50), scheduler: scheduler)
    }
    #expect(observer.events.isEmpty)
  }

  @Test func `delay is not prolonged by the time that the observer takes`() {
    let source = hot([.next(210, 1), .next(213, 2)])
    let observer = scheduler.createObserver(Int.self)
    let subscription = source.delay(.seconds(10), scheduler: scheduler).subscribe { [scheduler] event in
      observer.on(event)
      scheduler.sleep(7)
    }
    scheduler.start()
    // The second one is due at 223, and the observer is busy until 227.
    #expect(observer.events.map(\.value.element) == [1, 2])
    #expect(observer.events.map(\.time).first == 220)
    #expect((observer.events.last?.time ?? .max) <= 228)
    subscription.dispose()
  }

  @Test func `delay counts from the arrival of an element, also while the observer is busy`() {
    let subject = PublishSubject<Int>()
    let observer = scheduler.createObserver(Int.self)
    let subscription = subject.delay(.seconds(10), scheduler: scheduler).subscribe { [scheduler] event in
      observer.on(event)
      if event.element == 1 {
        subject.onNext(2)
        scheduler.sleep(15)
      }
    }
    scheduler.scheduleAt(210) { subject.onNext(1) }
    scheduler.start()
    // The second one is due at 230, and the observer is busy until 235.
    #expect(observer.events.map(\.value.element) == [1, 2])
    #expect((observer.events.last?.time ?? .max) <= 236)
    subscription.dispose()
  }
}
