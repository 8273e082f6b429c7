import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of streams with events at given times, and of observers that record times.
@Suite struct TestableStreamTests {
  private struct Trouble: Error {}

  @Test func `a hot stream emits to the observers that are subscribed at the time`() {
    let scheduler = TestScheduler(initialClock: 0)
    let source = scheduler.createHotObservable([
      .next(100, 1), .next(200, 2), .next(210, 3), .completed(300), .next(400, 4),
    ])
    let observer = scheduler.start { source }
    #expect(observer.events == [.next(210, 3), .completed(300)])
    #expect(source.subscriptions == [Subscription(200, 300)])
    #expect(source.recordedEvents.count == 5)
  }

  @Test func `the times of a cold stream are relative to each subscription`() {
    let scheduler = TestScheduler(initialClock: 0)
    let source = scheduler.createColdObservable([.next(10, "a"), .next(20, "b"), .error(30, Trouble())])
    let late = scheduler.createObserver(String.self)
    scheduler.scheduleAt(500) { source.asObservable().subscribe(late) }
    let observer = scheduler.start(created: 0, subscribed: 0, disposed: 25) { source }
    #expect(observer.events == [.next(10, "a"), .next(20, "b")])
    #expect(late.events == [.next(510, "a"), .next(520, "b"), .error(530, Trouble())])
    #expect(source.subscriptions == [Subscription(0, 25), Subscription(500, 530)])
  }

  @Test func `an observer that subscribes directly also gets events after the end`() {
    let scheduler = TestScheduler(initialClock: 0)
    let observer = scheduler.createObserver(Int.self)
    let subscription = scheduler.createHotObservable([.next(1, 1), .error(2, Trouble()), .next(3, 3)])
      .subscribe(observer)
    scheduler.start()
    subscription.dispose()
    #expect(observer.events == [.next(1, 1), .error(2, Trouble()), .next(3, 3)])
  }

  @Test func `the default times of a run are 100, 200 and 1000`() {
    let scheduler = TestScheduler(initialClock: 0)
    let times = Record<Int>()
    let source = scheduler.createHotObservable([.next(999, 1), .next(1000, 2)])
    let observer = scheduler.start {
      times.append(scheduler.clock)
      return source
    }
    #expect(times.elements == [100])
    // The element of 1000 was scheduled before the disposal of 1000.
    #expect(observer.events == [.next(999, 1), .next(1000, 2)])
    #expect(source.subscriptions == [Subscription(200, 1000)])
  }

  @Test func `disposing of a subscription to a cold stream cancels its later events`() {
    let lifetimes = Lifetimes()
    let scheduler = TestScheduler(initialClock: 0)
    let source = scheduler.createColdObservable([.next(10, 1)])
    source.subscribe(onNext: { [tracked = lifetimes.track()] _ in _ = tracked }).dispose()
    #expect(lifetimes.alive == 0)
    scheduler.start()
    #expect(scheduler.clock == 0)
  }

  @Test func `events are equal if their elements, or the types and descriptions of their errors, are equal`()
  {
    enum Other: Error { case one, two }
    #expect(Event.next(1) == .next(1))
    #expect(Event.next(1) != .next(2))
    #expect(Event<Int>.completed == .completed)
    #expect(Event<Int>.error(Other.one) == .error(Other.one))
    #expect(Event<Int>.error(Other.one) != .error(Other.two))
    #expect(Event<Int>.error(Other.one) != .error(Trouble()))
    #expect(Event<Int>.error(Other.one) != .completed)
    #expect(Event<Int?>.next(nil) == .next(nil))
  }

  @Test func `the description of a recorded event contains the event and its time`() {
    #expect("\(Recorded.next(210, 1))" == "next(1) @ 210")
    #expect("\(Recorded<Event<Int>>.completed(300))" == "completed @ 300")
    #expect(String(reflecting: Recorded<Event<Int>>.error(300, RxError.timeout)).hasSuffix(" @ 300"))
    #expect("\(Subscription(200))" == "(200: …)")
    #expect(Recorded.events(.next(1, "a"), .completed(2)) == [.next(1, "a"), .completed(2)])
  }
}
