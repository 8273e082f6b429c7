import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of virtual time for operators without a scheduler of their own.
@Suite struct VirtualTimeTests {
  @Test func `operators made in the body use virtual time`() {
    let scheduler = TestScheduler(initialClock: 0)
    let observer = withVirtualTime(scheduler) {
      scheduler.start { Observable<Int>.interval(.seconds(100)) }
    }
    // At 1000 the disposal runs first, because it was scheduled earlier.
    #expect(observer.events == (0..<7).map { .next(300 + $0 * 100, $0) })
    #expect(!(Schedulers.timing is TestScheduler))
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
