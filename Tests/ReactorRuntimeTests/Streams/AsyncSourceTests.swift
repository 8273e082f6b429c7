import ReactorRuntime
import Synchronization
import TestSupport
import Testing

@Suite struct AsyncSourceTests {
  private struct Failed: Error {}

  private func note(_ stream: Observable<Int>, in record: Record<String>) -> any Disposable {
    stream.subscribe(
      onNext: { record.append("\($0)") }, onError: { record.append("\($0)") },
      onCompleted: { record.append("completed") })
  }

  /// Sends the elements at each iteration, and then throws the failure if there is one.
  private struct Elements: AsyncSequence, Sendable {
    let elements: [Int]
    var failure: (any Error)?

    func makeAsyncIterator() -> AsyncThrowingStream<Int, any Error>.Iterator {
      let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
      for element in elements { continuation.yield(element) }
      continuation.finish(throwing: failure)
      return stream.makeAsyncIterator()
    }
  }

  @Test func `an asynchronous sequence is a stream of its elements and then completes`() async {
    for stream in [Observable(Elements(elements: [1, 2])), Elements(elements: [1, 2]).asObservable()] {
      let record = Record<String>()
      _ = note(stream, in: record)
      #expect(await eventually { record.elements == ["1", "2", "completed"] })
    }
  }

  @Test func `each subscription iterates over the sequence anew`() async {
    let stream = Elements(elements: [1]).asObservable()
    for _ in 0..<2 {
      let record = Record<String>()
      _ = note(stream, in: record)
      #expect(await eventually { record.elements == ["1", "completed"] })
    }
  }

  @Test func `an error that the sequence throws is the failure, even its own cancellation`() async {
    for failure in [Failed(), CancellationError()] as [any Error] {
      let record = Record<String>()
      _ = note(Observable(Elements(elements: [1], failure: failure)), in: record)
      #expect(await eventually { record.elements == ["1", "\(failure)"] })
    }
  }

  @Test func `as an observable, a sequence that throws its cancellation completes`() async {
    for (failure, end) in [(CancellationError(), "completed"), (Failed(), "Failed()")]
      as [(any Error, String)]
    {
      let record = Record<String>()
      _ = note(Elements(elements: [1], failure: failure).asObservable(), in: record)
      #expect(await eventually { record.elements == ["1", end] })
    }
  }

  @Test func `as an observable, a sequence is read with the priority that was asked for`() async {
    let record = Record<TaskPriority>()
    let numbers = Elements(elements: [1]).map { element in
      record.append(Task.basePriority ?? .high)
      return element
    }
    _ = numbers.asObservable(priority: .background).subscribe()
    #expect(await eventually { record.elements == [.background] })
  }

  @Test func `disposal cancels the task that iterates over the sequence`() async {
    let ended = Gate()
    let (sequence, continuation) = AsyncStream<Int>.makeStream()
    continuation.onTermination = { reason in if case .cancelled = reason { ended.open() } }
    let record = Record<String>()
    let subscription = note(sequence.asObservable(), in: record)
    continuation.yield(1)
    #expect(await eventually { record.elements == ["1"] })
    subscription.dispose()
    #expect(await eventually { ended.isOpen })
    continuation.yield(2)
    #expect(record.elements == ["1"])
  }

  @Test func `an observer that disposes in the first element receives no more`() async {
    let record = Record<Int>()
    let subscription = SerialDisposable()
    let (sequence, continuation) = AsyncStream<Int>.makeStream()
    let ended = Gate()
    continuation.onTermination = { _ in ended.open() }
    subscription.disposable = sequence.asObservable().subscribe(
      onNext: { element in
        record.append(element)
        subscription.dispose()
      })
    // Not before it can be disposed of.
    for element in 1...3 { continuation.yield(element) }
    #expect(await eventually { ended.isOpen })
    #expect(record.elements == [1])
  }

  @Test func `a call is a stream of its result, anew for each subscription`() async {
    let calls = Shared(Atomic(0))
    let stream = Observable.task {
      await Task.yield()
      return calls.value.add(1, ordering: .relaxed).newValue
    }
    for call in 1...2 {
      let record = Record<String>()
      _ = note(stream, in: record)
      #expect(await eventually { record.elements == ["\(call)", "completed"] })
    }
  }

  @Test func `an error of the call is the failure`() async {
    let record = Record<String>()
    _ = note(Observable.task { throw Failed() }, in: record)
    #expect(await eventually { record.elements == ["Failed()"] })
  }

  @Test func `the task has the priority that was asked for`() async {
    let record = Record<TaskPriority>()
    _ = Observable.task(priority: .background) { record.append(Task.basePriority ?? .high) }
      .subscribe(onNext: { _ in })
    #expect(await eventually { record.elements == [.background] })
  }

  @Test func `disposal cancels the call, and its cancellation is not delivered`() async {
    let record = Record<String>()
    let began = Gate()
    let ended = Gate()
    let stream = Observable<Int>.task {
      began.open()
      defer { ended.open() }
      try await Task.sleep(for: .seconds(patience))
      return 1
    }
    let subscription = note(stream, in: record)
    #expect(await eventually { began.isOpen })
    subscription.dispose()
    #expect(await eventually { ended.isOpen })
    for _ in 0..<10 { await Task.yield() }
    #expect(record.elements == [])
  }

  @Test func `a call that ignores its cancellation retains no observer, and its result is not delivered`()
    async
  {
    let lifetimes = Lifetimes()
    let record = Record<Int>()
    let began = Gate()
    let (answers, answer) = AsyncStream<Int>.makeStream()
    let stream = Observable<Int>.task {
      began.open()
      // Another task does not see the cancellation.
      return await Task.detached { await answers.first { _ in true } ?? 0 }.value
    }
    let subscription = stream.subscribe(
      onNext: { [kept = lifetimes.track()] element in record.append(element + kept.value) })
    #expect(await eventually { began.isOpen })
    subscription.dispose()
    #expect(lifetimes.alive == 0)
    answer.yield(1)
    for _ in 0..<10 { await Task.yield() }
    #expect(record.elements == [])
  }
}
