import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

// The code of the article "Streams". Keep both in step.

@Suite struct StreamsSnippets {
  @Test func `known elements are emitted at once`() {
    let seen = Record<String>()
    Observable.of(1, 2, 3)
      .map { $0 * 10 }
      .subscribe(
        onNext: { seen.append("\($0)") },
        onCompleted: { seen.append("end") })
    #expect(seen.elements == ["10", "20", "30", "end"])
  }

  @Test func `a custom stream emits what its closure sends`() {
    let isEnded = Gate()
    let stream = Observable<Int>.create { observer in
      observer.onNext(1)
      observer.onNext(2)
      observer.onCompleted()
      return Disposables.create { isEnded.open() }
    }
    let recorder = Recorder(stream)
    #expect(recorder.elements == [1, 2])
    #expect(recorder.isCompleted)
    #expect(isEnded.isOpen)
  }

  @Test func `a single has one result`() {
    @Sendable func load(_ id: Int) -> Single<String> {
      Single.create { single in
        single(.success("user \(id)"))
        return Disposables.create()
      }
    }
    let seen = Record<String>()
    Observable.of(1, 2)
      .flatMap { load($0).catchAndReturn("nobody") }
      .subscribe(onNext: { seen.append($0) })
    #expect(seen.elements == ["user 1", "user 2"])
  }

  @Test func `a scheduler determines the thread`() async {
    let queue = SerialDispatchQueueScheduler(internalSerialQueueName: "files")
    let lines = Observable.of("a", "b").observe(on: queue)
    let recorder = Recorder(lines)
    #expect(await recorder.waitForStop(timeout: .seconds(patience)))
    #expect(recorder.elements == ["a", "b"])
  }

  @Test func `a stream is read as an asynchronous sequence`() async throws {
    let numbers = Observable.of(1, 2, 3)
    var sum = 0
    for await number in numbers.values { sum += number }
    #expect(sum == 6)
    for try await number in numbers.throwingValues { sum += number }
    #expect(sum == 12)
    for await number in numbers.values(buffering: .newest(1)) { sum = number }
    #expect(sum == 3)
  }

  @Test func `an asynchronous sequence and an asynchronous call become streams`() async {
    let (sequence, continuation) = AsyncStream<Int>.makeStream()
    let recorder = Recorder(Observable(sequence))
    continuation.yield(1)
    continuation.yield(2)
    continuation.finish()
    #expect(await recorder.waitForStop(timeout: .seconds(patience)))
    #expect(recorder.elements == [1, 2])

    @Sendable func load() async throws -> String { "loaded" }
    let answer = Recorder(Observable.task { try await load() })
    #expect(await answer.waitForStop(timeout: .seconds(patience)))
    #expect(answer.elements == ["loaded"])
  }

  @Test func `one subscription serves many observers`() {
    let source = PublishSubject<Int>()
    let shared = source.asObservable().map { $0 * 2 }.share(replay: 1)
    let (first, second) = (Recorder(shared), Recorder<Int>())
    source.onNext(1)
    let subscription = shared.subscribe(second)
    source.onNext(2)
    #expect(first.elements == [2, 4])
    #expect(second.elements == [2, 4])
    subscription.dispose()
  }
}
