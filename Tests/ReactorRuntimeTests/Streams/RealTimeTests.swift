import ReactorRuntime
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
