import Dispatch
import Glibc
import ReactorCore
import ReactorRuntime
import ReactorTesting
import Synchronization
import TestSupport
import Testing

/// `observe(on:)` and `subscribe(on:)`.
@Suite struct ObserveOnTests {
  private static let mark = DispatchSpecificKey<Int>()

  private func markedQueue(_ number: Int, attributes: DispatchQueue.Attributes = []) -> DispatchQueue {
    let queue = DispatchQueue(label: "marked", attributes: attributes)
    queue.setSpecific(key: Self.mark, value: number)
    return queue
  }

  // MARK: observe(on:)

  @Test func `events are delivered on the scheduler, in order, one at a time, the stop event last`() {
    let scheduler = ConcurrentDispatchQueueScheduler(queue: markedQueue(7, attributes: .concurrent))
    let record = Record<Event<Int>>()
    let inside = Shared(Atomic(0))
    let wrong = Record<String>()
    let done = Gate()
    Observable.from(Array(0..<10_000)).observe(on: scheduler).subscribe { event in
      if inside.value.wrappingAdd(1, ordering: .relaxed).oldValue != 0 { wrong.append("overlap") }
      if DispatchQueue.getSpecific(key: Self.mark) != 7 { wrong.append("elsewhere") }
      record.append(event)
      inside.value.wrappingSubtract(1, ordering: .relaxed)
      if event.isStopEvent { done.open() }
    }
    #expect(done.wait())
    #expect(record.elements == (0..<10_000).map { .next($0) } + [.completed])
    #expect(wrong.elements.isEmpty)
  }

  @Test func `an error comes after the elements before it`() {
    let scheduler = TestScheduler(initialClock: 0)
    let source = scheduler.createHotObservable([.next(210, 1), .next(210, 2), .error(210, RxError.unknown)])
    let observer = scheduler.start { source.observe(on: scheduler) }
    #expect(observer.events == [.next(211, 1), .next(211, 2), .error(211, RxError.unknown)])
  }

  @Test func `an action of the scheduler leaves later events to the next action`() {
    let scheduler = TestScheduler(initialClock: 0, simulateProcessingDelay: false)
    let observers = Record<AnyObserver<String>>()
    let record = Record<String>()
    Observable<String>.create { observer in
      observers.append(observer)
      return Disposables.create()
    }
    .observe(on: scheduler).subscribe(onNext: { element in
      record.append(element)
      if element == "1" {
        observers.elements[0].onNext("3")
        _ = scheduler.schedule { record.append("other") }
      }
    })
    observers.elements[0].onNext("1")
    observers.elements[0].onNext("2")
    #expect(record.elements.isEmpty)
    scheduler.start()
    #expect(record.elements == ["1", "2", "other", "3"])
  }

  @Test func `disposal ends the delivery at once and releases what waits`() {
    let lifetimes = Lifetimes()
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<Int>()
    let observers = Record<AnyObserver<LifetimeTracked>>()
    let subscription = Observable<LifetimeTracked>.create { observer in
      observers.append(observer)
      return Disposables.create()
    }
    .observe(on: scheduler).subscribe(onNext: { record.append($0.value) })
    for _ in 0..<10 { observers.elements[0].onNext(lifetimes.track()) }
    #expect(lifetimes.alive == 10)
    subscription.dispose()
    #expect(lifetimes.alive == 0)
    observers.elements[0].onNext(lifetimes.track())
    #expect(lifetimes.alive == 0)
    scheduler.start()
    #expect(record.elements.isEmpty)
    // The scheduled action was cancelled.
    #expect(scheduler.clock == 0)
  }

  @Test func `what a scheduler's disposable does when it is released may use the stream`() {
    let (subject, record) = (PublishSubject<Int>(), Record<Int>())
    let scheduler = ReleasingScheduler { number in if number == 0 { subject.onNext(2) } }
    let subscription = subject.observe(on: scheduler).subscribe(onNext: { record.append($0) })
    subject.onNext(1)
    let hasRun = Threads.start { for number in 0..<2 { scheduler.actions.elements[number]() } }
    #expect(hasRun.wait(seconds: 60))
    #expect(record.elements == [1, 2])
    subscription.dispose()
  }

  /// A scheduler whose actions the test runs. Calls a closure when a disposable is released, with its number.
  private final class ReleasingScheduler: ImmediateSchedulerType {
    let actions = Record<@Sendable () -> Void>()
    private let release: @Sendable (Int) -> Void

    init(release: @escaping @Sendable (Int) -> Void) { self.release = release }

    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
      actions.append(action)
      return Released(number: actions.elements.count - 1, release: release)
    }

    private final class Released: Disposable {
      private let number: Int
      private let release: @Sendable (Int) -> Void

      init(number: Int, release: @escaping @Sendable (Int) -> Void) {
        (self.number, self.release) = (number, release)
      }

      deinit { release(number) }

      func dispose() {}
    }
  }

  @Test func `a fast source blocks while the scheduler is delivering on another thread`() {
    let entered = Gate()
    let mayGoOn = Gate()
    let done = Gate()
    let emitted = Shared(Atomic(0))
    let source = Observable<Int>.create { observer in
      observer.onNext(0)
      #expect(entered.wait())
      for number in 1..<5000 {
        observer.onNext(number)
        emitted.value.store(number, ordering: .sequentiallyConsistent)
      }
      observer.onCompleted()
      return Disposables.create()
    }
    let record = Record<Int>()
    let ended = Threads.start {
      source.observe(on: ConcurrentDispatchQueueScheduler.shared).subscribe(
        onNext: { number in
          record.append(number)
          if number == 0 {
            entered.open()
            #expect(mayGoOn.wait())
          }
        }, onCompleted: { done.open() })
    }
    #expect(Threads.yield { emitted.value.load(ordering: .sequentiallyConsistent) >= 1024 })
    // It blocks in the send of the 1025th.
    #expect(!ended.wait(seconds: 0))
    #expect(emitted.value.load(ordering: .sequentiallyConsistent) == 1024)
    mayGoOn.open()
    #expect(done.wait())
    #expect(ended.wait())
    #expect(record.elements == Array(0..<5000))
  }

  /// One after the other: room that one of them makes would wake the other, too.
  @Test(.serialized, arguments: [false, true])
  func `a source that blocks goes on once the scheduler is to deliver later, or never`(disposes: Bool) {
    let (subject, scheduler, emitted) = (
      PublishSubject<Int>(), ReleasingScheduler { _ in }, Shared(Atomic(0))
    )
    let (isInside, mayGoOn) = (Gate(), Gate())
    let subscription = subject.observe(on: scheduler).subscribe(onNext: { number in
      if number > 0 { return }
      isInside.open()
      _ = mayGoOn.wait()
    })
    subject.onNext(0)
    let isDelivered = Threads.start { scheduler.actions.elements[0]() }
    #expect(isInside.wait())
    let isDone = Threads.start {
      for number in 1...1030 {
        subject.onNext(number)
        emitted.value.store(number, ordering: .sequentiallyConsistent)
      }
    }
    #expect(Threads.yield { emitted.value.load(ordering: .sequentiallyConsistent) >= 1024 })
    // Usually it sleeps then, in the send of the 1025th.
    usleep(20_000)
    #expect(!isDone.isOpen)
    // The next action of the scheduler never runs.
    if disposes { subscription.dispose() } else { mayGoOn.open() }
    #expect(isDone.wait(seconds: 20))
    mayGoOn.open()
    #expect(isDelivered.wait())
    subscription.dispose()
  }

  /// A source that emits on a thread of its own, and waits for the end of that when it is disposed of.
  private struct LateSource: Sendable {
    let disposed = Gate()
    let stream: Observable<Int>
    private let mayEmit: Gate
    private let emitted: Shared<Atomic<Int>>

    /// - Parameter first: What it emits before ``emitUntilBlocked()``.
    init(first: [Int]) {
      let (mayEmit, emitted) = (Gate(), Shared(Atomic(0)))
      (self.mayEmit, self.emitted) = (mayEmit, emitted)
      stream = .create { [disposed] observer in
        let ended = Threads.start {
          for number in first { observer.onNext(number) }
          #expect(mayEmit.wait())
          for number in 1..<5000 {
            observer.onNext(number)
            emitted.value.store(number, ordering: .sequentiallyConsistent)
          }
        }
        return Disposables.create {
          #expect(ended.wait())
          disposed.open()
        }
      }
    }

    func emitUntilBlocked() {
      mayEmit.open()
      #expect(Threads.yield { emitted.value.load(ordering: .sequentiallyConsistent) >= 1024 })
      // Usually it blocks by now, in the send of the 1025th.
      for _ in 0..<1000 { DedicatedThread.yield() }
    }
  }

  /// What an operator with a queue behind which its source blocks makes of that source.
  enum Queueing: CaseIterable {
    case observeOn, delay

    func apply(_ source: Observable<Int>) -> Observable<Int> {
      let scheduler = ConcurrentDispatchQueueScheduler.shared
      return switch self {
      case .observeOn: source.observe(on: scheduler)
      case .delay: source.delay(.milliseconds(1), scheduler: scheduler)
      }
    }
  }

  /// The subscription ends on the scheduler's thread, which then waits for the source's thread.
  @Test(arguments: Queueing.allCases)
  func `the end releases a source that blocks before it disposes of it`(_ queueing: Queueing) {
    let late = LateSource(first: [0])
    let subscription = queueing.apply(late.stream).take(1).subscribe(onNext: { _ in
      late.emitUntilBlocked()
    })
    #expect(late.disposed.wait())
    subscription.dispose()
  }

  /// The timer's thread subscribes to the other stream, and then disposes of the source that came too late.
  @Test func `timeout releases a source that blocks before it disposes of it`() {
    let late = LateSource(first: [])
    let other = Observable<Int>.create { _ in
      late.emitUntilBlocked()
      return Disposables.create()
    }
    let subscription = late.stream.timeout(
      .milliseconds(1), other: other, scheduler: ConcurrentDispatchQueueScheduler.shared
    ).subscribe()
    #expect(late.disposed.wait())
    subscription.dispose()
  }

  @Test func `a source on the scheduler's own thread does not wait for itself`() {
    let queue = markedQueue(1)
    let scheduler = SerialDispatchQueueScheduler(queue: queue)
    let record = Record<Int>()
    let done = Gate()
    _ = scheduler.schedule {
      Observable.from(Array(0..<5000)).observe(on: scheduler)
        .subscribe(onNext: { record.append($0) }, onCompleted: { done.open() })
    }
    #expect(done.wait())
    #expect(record.elements == Array(0..<5000))
  }

  @Test func `a scheduler that runs at once delivers at once`() {
    let record = Record<Event<Int>>()
    Observable.of(1, 2).observe(on: CurrentThreadScheduler.instance).subscribe { record.append($0) }
    #expect(record.elements == [.next(1), .next(2), .completed])
  }

  /// An action of this scheduler comes behind those that wait, so a long source queues all of its elements first. Removing
  /// them from the front of an array would move 400 GB here.
  @Test func `a long source inside an action of the current thread is delivered in linear time`() {
    let count = 200_000
    let sum = Record<Int>()
    _ = CurrentThreadScheduler.instance.schedule {
      Observable.from(Array(0..<count)).observe(on: CurrentThreadScheduler.instance)
        .reduce(0, accumulator: +).subscribe(onNext: { sum.append($0) })
    }
    #expect(sum.elements == [count * (count - 1) / 2])
  }

  // MARK: subscribe(on:)

  @Test func `the source is subscribed to and disposed of on the scheduler`() {
    let scheduler = SerialDispatchQueueScheduler(queue: markedQueue(3))
    let places = Record<String>()
    let subscribed = Gate()
    let disposed = Gate()
    let subscription = Observable<Int>.create { _ in
      places.append("subscribed at \(DispatchQueue.getSpecific(key: Self.mark) ?? 0)")
      subscribed.open()
      return Disposables.create {
        places.append("disposed at \(DispatchQueue.getSpecific(key: Self.mark) ?? 0)")
        disposed.open()
      }
    }
    .subscribe(on: scheduler).subscribe()
    #expect(subscribed.wait())
    subscription.dispose()
    #expect(disposed.wait())
    #expect(places.elements == ["subscribed at 3", "disposed at 3"])
  }

  @Test func `a source is not subscribed to after the disposal`() {
    let scheduler = TestScheduler(initialClock: 0)
    let source = scheduler.createHotObservable([.next(210, 1)])
    source.subscribe(on: scheduler).subscribe().dispose()
    let observer = scheduler.start { source.subscribe(on: scheduler) }
    #expect(observer.events == [.next(210, 1)])
    // The end comes at the scheduler's next tick.
    #expect(source.subscriptions == [Subscription(201, 1001)])
  }
}
