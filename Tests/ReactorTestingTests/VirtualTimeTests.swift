import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of virtual time for operators without a scheduler of their own.
@Suite struct VirtualTimeTests {
  @Test func `a timer that fires while another thread is in the operator needs no more time`() {
    let scheduler = TestScheduler(initialClock: 0)
    let (subject, isBusy, mayGo, done) = (PublishSubject<Int>(), Gate(), Gate(), Gate())
    subject.take(for: .seconds(10), scheduler: scheduler).subscribe(
      onNext: { _ in
        isBusy.open()
        _ = mayGo.wait()
      }, onCompleted: { done.open() })
    let sender = Threads.start { subject.onNext(1) }
    #expect(isBusy.wait())
    scheduler.advanceTo(10)
    mayGo.open()
    #expect(sender.wait())
    #expect(done.wait(seconds: 10))
  }

  @Test func `operators made in the body use virtual time`() {
    let scheduler = TestScheduler(initialClock: 0)
    let observer = withVirtualTime(scheduler) {
      scheduler.start { Observable<Int>.interval(.seconds(100)) }
    }
    // At 1000 the disposal runs first, because it was scheduled earlier.
    #expect(observer.events == (0..<7).map { .next(300 + $0 * 100, $0) })
    #expect(!(Schedulers.timing is TestScheduler))
  }

  @Test func `a delay that never ends does so in virtual time, too`() {
    let scheduler = TestScheduler(initialClock: 0)
    let observer = withVirtualTime(scheduler) {
      scheduler.start { Observable<Int>.never().timeout(.seconds(Int64.max)) }
    }
    #expect(observer.events == [])
    let cold = scheduler.createColdObservable([.next(10, 1), .next(.max, 2)])
    let later = scheduler.start(created: 1100, subscribed: 1200, disposed: 1300) { cold.asObservable() }
    #expect(later.events == [.next(1210, 1)])
  }

  @Test func `operators made in an asynchronous body use virtual time`() async {
    let scheduler = TestScheduler(initialClock: 0)
    let observer = await withVirtualTime(scheduler) {
      await Task.yield()
      return scheduler.start { Observable.just(1).delay(.seconds(5)) }
    }
    #expect(observer.events == [.next(205, 1), .completed(205)])
  }
}
