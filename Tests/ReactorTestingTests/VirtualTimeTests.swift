import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Virtual time for operators that are not told a scheduler.
@Suite struct VirtualTimeTests {
  @Test func `operators that are made in the body use virtual time`() {
    let scheduler = TestScheduler(initialClock: 0)
    let observer = withVirtualTime(scheduler) {
      scheduler.start { Observable<Int>.interval(.seconds(100)) }
    }
    // At 1000 the disposal, which was told before, comes first.
    #expect(observer.events == (0..<7).map { .next(300 + $0 * 100, $0) })
    #expect(!(Schedulers.timing is TestScheduler))
  }

  @Test func `also in an asynchronous body`() async {
    let scheduler = TestScheduler(initialClock: 0)
    let observer = await withVirtualTime(scheduler) {
      await Task.yield()
      return scheduler.start { Observable.just(1).delay(.seconds(5)) }
    }
    #expect(observer.events == [.next(205, 1), .completed(205)])
  }
}
