import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of the recorders of streams and of failures.
@Suite struct RecorderTests {
  @Test func `a recorder records a stream to its end`() {
    let recorder = Recorder(Observable.of(1, 2))
    #expect(recorder.elements == [1, 2])
    #expect(recorder.events == [.next(1), .next(2), .completed])
    #expect(recorder.isCompleted)
    #expect(recorder.error == nil)
    let failed = Recorder(Observable<Int>.error(RxError.timeout))
    #expect(failed.error as? RxError == .timeout)
  }

  @Test func `freeing a recorder ends its subscription`() {
    let scheduler = TestScheduler(initialClock: 0)
    let source = scheduler.createHotObservable([.next(1, 1)])
    var recorder: Recorder<Int>? = Recorder(source)
    #expect(recorder?.elements == [])
    #expect(source.subscriptions == [Subscription(0)])
    recorder = nil
    #expect(source.subscriptions == [Subscription(0, 0)])
    let other = Recorder(source)
    other.dispose()
    #expect(source.subscriptions.last == Subscription(0, 0))
  }

  @Test func `waiting ends when the expected number of elements was recorded`() async {
    let recorder = Recorder<Int>()
    #expect(await recorder.wait(forCount: 0))
    let ended = Threads.start { for number in 0..<1000 { recorder.onNext(number) } }
    #expect(await recorder.wait(forCount: 1000))
    #expect(recorder.elements.count == 1000)
    #expect(ended.wait())
  }

  @Test func `several tasks may wait for different numbers of elements`() async {
    let recorder = Recorder<Int>()
    await withTaskGroup(of: Bool.self) { group in
      for count in 1...20 { group.addTask { await recorder.wait(forCount: count) } }
      group.addTask {
        for number in 0..<20 { recorder.onNext(number) }
        return true
      }
      for await isThere in group { #expect(isThere) }
    }
  }

  @Test func `waiting returns false if the stream ends before`() async {
    let recorder = Recorder<Int>()
    async let waited = recorder.wait(forCount: 2, timeout: .seconds(60))
    async let stopped = recorder.waitForStop(timeout: .seconds(60))
    recorder.onNext(1)
    recorder.onError(RxError.unknown)
    #expect(await waited == false)
    #expect(await stopped)
    #expect(await recorder.wait(forCount: 1))
    #expect(await recorder.wait(forCount: 2) == false)
  }

  @Test func `a recorder knows that a stream has stopped also if events follow`() async {
    let scheduler = TestScheduler(initialClock: 0)
    let (completed, failed) = (Recorder<Int>(), Recorder<Int>())
    let completes = scheduler.createHotObservable([.next(1, 1), .completed(2), .error(3, RxError.unknown)])
    let fails = scheduler.createHotObservable([.error(1, RxError.timeout), .next(2, 2), .completed(3)])
    // Directly, without an operator that ignores what follows.
    let subscriptions = [completes.subscribe(completed), fails.subscribe(failed)]
    scheduler.start()
    #expect(completed.events.count == 3 && failed.events.count == 3)
    #expect(completed.isCompleted && completed.error == nil)
    #expect(!failed.isCompleted && failed.error as? RxError == .timeout)
    #expect(await completed.waitForStop(timeout: .zero))
    #expect(await failed.waitForStop(timeout: .zero))
    for subscription in subscriptions { subscription.dispose() }
  }

  @Test func `waiting ends at the timeout and when the task is cancelled`() async {
    let recorder = Recorder<Int>()
    #expect(await recorder.wait(forCount: 1, timeout: .zero) == false)
    #expect(await recorder.wait(forCount: 1, timeout: .milliseconds(1)) == false)
    #expect(await recorder.waitForStop(timeout: .milliseconds(1)) == false)
    let task = Task { await recorder.wait(forCount: 1, timeout: .seconds(60)) }
    task.cancel()
    #expect(await task.value == false)
  }

  @Test func `a difference shows the index and both elements`() {
    let recorder = Recorder(Observable.of(1, 5))
    #expect(recorder.difference(from: [1, 5]) == nil)
    #expect(recorder.difference(fromEvents: [.next(1), .next(5), .completed]) == nil)
    #expect(
      recorder.difference(from: [1, 2, 3]) == """
        The first difference is at index 1; 3 were expected and 2 recorded.
          0   1
        - 1   2
        + 1   5
        - 2   3
        """)
    #expect(
      recorder.difference(from: [1]) == """
        The first difference is at index 1; 1 were expected and 2 recorded.
          0   1
        + 1   5
        """)
  }

  @Test func `a long difference is shortened`() {
    let text = difference(of: Array(0..<100), from: Array(0..<50) + Array(100..<200)) ?? ""
    let lines = text.split(separator: "\n")
    #expect(lines[0] == "The first difference is at index 50; 150 were expected and 100 recorded.")
    #expect(lines[1] == "  … 47 equal")
    #expect(lines.last == "  … 90 more")
    #expect(lines.count == 26)
  }

  @Test func `the events of a testable observer can be compared`() {
    let scheduler = TestScheduler(initialClock: 0)
    let observer = scheduler.start { Observable.just(1) }
    #expect(observer.difference(from: [.next(200, 1), .completed(200)]) == nil)
    #expect(
      observer.difference(from: [.next(201, 1)]) == """
        The first difference is at index 0; 1 were expected and 2 recorded.
        - 0   next(1) @ 201
        + 0   next(1) @ 200
        + 1   completed @ 200
        """)
  }

  @Test func `a failure recorder records the failures of a runtime`() async throws {
    let failures = FailureRecorder()
    let loop = try Loop(name: "recorder")
    let counter = Counter(on: .loop(loop), onFailure: failures.handler)
    loop.shutdown()
    #expect(failures.failures.isEmpty)
    counter.send(1)
    #expect(await failures.wait(forCount: 1))
    #expect(failures.failures.map(\.sendError) == [.closed])
  }
}

private final class Counter: Reactor {
  typealias Action = Int
  typealias Mutation = Int
  typealias State = Int

  let initialState = 0
  let runtime: Runtime<Int, Int, Int>

  init(on placement: Placement, onFailure: @escaping @Sendable (Failure) -> Void) {
    runtime = Runtime(on: placement, onFailure: onFailure)
  }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
