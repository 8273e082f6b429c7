import Dispatch
import Glibc
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// The operators of time on the system's clock.
@Suite struct RealTimeTests {
  @Test func `delay, debounce, throttle and timeout work on a queue of the system`() {
    let streams: [Observable<Int>] = [
      Observable.of(1, 2).delay(.milliseconds(2)), Observable.of(1, 2).delaySubscription(.milliseconds(2)),
      // One element, since on a busy machine the time may pass between two.
      Observable.concat(.just(2), .never()).debounce(.milliseconds(2)).take(1),
      Observable.of(1, 2).throttle(.milliseconds(2)),
      Observable.never().timeout(.milliseconds(2), other: Observable.of(1, 2)),
      Observable.timer(.milliseconds(2)),
      Observable.of(1, 2).observe(on: ConcurrentDispatchQueueScheduler(qos: .default)),
      Observable.of(1, 2).subscribe(on: SerialDispatchQueueScheduler(qos: .default)),
    ]
    let expected = [[1, 2], [1, 2], [2], [1, 2], [1, 2], [0], [1, 2], [1, 2]]
    for (stream, expected) in zip(streams, expected) {
      let record = Record<Int>()
      let done = Gate()
      stream.subscribe(onNext: { record.append($0) }, onCompleted: { done.open() })
      #expect(done.wait())
      #expect(record.elements == expected)
    }
  }

  @Test(arguments: [false, true])
  func `what a timer causes is delivered by its scheduler, also if the source's thread is busy then`(
    isUsersOwn: Bool
  ) {
    let queue = DispatchQueue(label: "timers")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let ours = SerialDispatchQueueScheduler(queue: queue)
    let scheduler: any SchedulerType = isUsersOwn ? UsersScheduler(scheduler: ours) : ours
    // On a busy machine the source's thread can be found inside of the operator again and again, and delivers in the end. It did
    // so each time when it delivered whatever it found.
    let onQueue = Record<Bool>()
    for _ in 0..<8 {
      let (subject, done) = (PublishSubject<Int>(), Gate())
      subject.take(for: .milliseconds(5), scheduler: scheduler).subscribe(
        onNext: { _ in usleep(20_000) },
        onCompleted: {
          onQueue.append(DispatchQueue.getSpecific(key: key) ?? false)
          done.open()
        })
      subject.onNext(1)
      #expect(done.wait())
    }
    #expect(onQueue.elements.contains(true))
  }

  @Test func `a timer takes effect though the source hardly leaves the operator`() {
    let subject = PublishSubject<Int>()
    let count = Atomic(0)
    let done = Gate()
    subject.take(for: .milliseconds(20), scheduler: SerialDispatchQueueScheduler(qos: .default)).subscribe(
      onNext: { _ in
        count.add(1, ordering: .relaxed)
        usleep(5000)
      }, onCompleted: { done.open() })
    for element in 0..<400 { subject.onNext(element) }
    #expect(done.wait())
    #expect(count.load(ordering: .relaxed) < 400)
  }

  @Test func `timeout fails on a queue of the system`() {
    let failed = Gate()
    Observable<Int>.never().timeout(.milliseconds(2)).subscribe(onError: { error in
      if error as? RxError == .timeout { failed.open() }
    })
    #expect(failed.wait())
  }

  @Test func `interval counts without a gap and releases its observer at the disposal`() {
    let lifetimes = Lifetimes()
    let record = Record<Int>()
    let done = Gate(count: 5)
    let subscription = Observable<Int>.interval(.milliseconds(1)).subscribe(onNext: {
      [tracked = lifetimes.track()] number in
      record.append(number + tracked.value)
      done.open()
    })
    #expect(done.wait())
    subscription.dispose()
    #expect(Threads.yield { lifetimes.alive == 0 })
    #expect(Array(record.elements.prefix(5)) == [0, 1, 2, 3, 4])
  }

  @Test func `a disposed delay releases its elements although its timer is not due for long`() {
    let lifetimes = Lifetimes()
    let subscription = Observable.just(lifetimes.track()).delay(.seconds(1000)).subscribe()
    #expect(lifetimes.alive == 1)
    subscription.dispose()
    #expect(lifetimes.alive == 0)
  }
}

/// A scheduler that a program has made itself.
private struct UsersScheduler: SchedulerType {
  let scheduler: any SchedulerType

  var now: Duration { scheduler.now }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { scheduler.schedule(action) }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    scheduler.schedule(after: delay, action)
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { scheduler.schedulePeriodic(after: delay, every: period, action) }
}
