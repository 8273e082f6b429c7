import ReactorRuntime
import Synchronization
import TestSupport
import Testing

@Suite struct ValuesTests {
  private struct Failed: Error, Equatable { let id: Int }

  @Test func `a loop reads the elements in order, until the end`() async {
    var read: [Int] = []
    for await element in Observable.of(1, 2, 3, 4).values { read.append(element) }
    #expect(read == [1, 2, 3, 4])
  }

  @Test func `a failure ends the loop after the elements before it, and is passed to the hook`() async {
    let errors = HookedErrors { $0 as? Failed == Failed(id: 1) }
    let stream = Observable<Int>.create { observer in
      observer.onNext(1)
      observer.onError(Failed(id: 1))
      return Disposables.create()
    }
    var read: [Int] = []
    for await element in stream.values { read.append(element) }
    #expect(read == [1])
    #expect(errors.stop().count == 1)
  }

  @Test func `a throwing loop throws the failure after the elements before it`() async {
    let stream = Observable<Int>.create { observer in
      observer.onNext(1)
      observer.onError(Failed(id: 2))
      return Disposables.create()
    }
    let read = Record<Int>()
    await #expect(throws: Failed(id: 2)) {
      for try await element in stream.throwingValues { read.append(element) }
    }
    #expect(read.elements == [1])
  }

  @Test func `each loop is a subscription, which begins with it and ends with it`() async {
    let subject = BehaviorSubject(value: 1)
    let values = subject.values
    let throwing = subject.throwingValues
    #expect(!subject.hasObservers)
    for await element in values {
      #expect(element == 1)
      #expect(subject.hasObservers)
      break
    }
    #expect(!subject.hasObservers)
    var iterator = throwing.makeAsyncIterator()
    #expect(subject.hasObservers)
    #expect((try? await iterator.next()) == 1)
  }

  @Test func `destroying the iterator disposes of the subscription`() async {
    let subject = PublishSubject<Int>()
    func iterate() async {
      let iterator = subject.values.makeAsyncIterator()
      let throwing = subject.throwingValues.makeAsyncIterator()
      #expect(subject.hasObservers)
      withExtendedLifetime((iterator, throwing)) {}
    }
    await iterate()
    #expect(!subject.hasObservers)
  }

  @Test func `cancelling the task ends the loop and disposes of the subscription`() async {
    let subject = PublishSubject<Int>()
    let loops = [
      Task { for await _ in subject.values {} },
      Task { for try await _ in subject.throwingValues {} },
    ]
    for loop in loops {
      #expect(await eventually { subject.hasObservers })
      loop.cancel()
      _ = await loop.result
    }
    #expect(!subject.hasObservers)
  }

  @Test func `a slow loop keeps the newest elements, and its losses are reported at powers of two`() async {
    // Only this test makes an error with that number.
    let errors = HookedErrors { $0 is ValuesOverflow }
    var iterator = Observable.from(Array(1...2000)).values.makeAsyncIterator()
    var read: [Int] = []
    while let element = await iterator.next() { read.append(element) }
    #expect(read == Array(977...2000))
    let reported = errors.stop().compactMap { ($0 as? ValuesOverflow)?.dropped }
    #expect(reported == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
  }

  @Test func `a slow throwing loop receives what fits, and then throws the loss`() async {
    let read = Record<Int>()
    let subject = PublishSubject<Int>()
    var iterator = subject.throwingValues.makeAsyncIterator()
    for element in 1...1025 { subject.onNext(element) }
    #expect(!subject.hasObservers)
    let overflow = await #expect(throws: ValuesOverflow.self) {
      while let element = try await iterator.next() { read.append(element) }
    }
    #expect(overflow?.capacity == 1024)
    #expect(overflow?.dropped == 1)
    #expect(read.elements == Array(1...1024))
  }

  @Test func `a loop keeps what it was asked to keep, and passes on what it drops`() async throws {
    let stream = Observable.from(Array(1...3000))
    let expectations: [(ValuesBuffering, [Int], [Int])] = [
      (.unbounded, Array(1...3000), []),
      (.oldest(2), [1, 2], Array(3...3000)),
      (.newest(1), [3000], Array(1..<3000)),
    ]
    for (buffering, kept, lost) in expectations {
      let dropped = Record<Int>()
      var read: [Int] = []
      for await element in stream.values(buffering: buffering, onDropped: { dropped.append($0) }) {
        read.append(element)
      }
      #expect(read == kept)
      #expect(dropped.elements == lost)
      var readThrowing: [Int] = []
      for try await element in stream.throwingValues(buffering: buffering) { readThrowing.append(element) }
      #expect(readThrowing == kept)
    }
  }

  @Test func `a loop that is left retains nothing`() async {
    let lifetimes = Lifetimes()
    let subject = BehaviorSubject(value: lifetimes.track())
    for await _ in subject.values { break }
    subject.onNext(lifetimes.track())
    #expect(lifetimes.alive == 1)
  }
}
