import ReactorRuntime
import TestSupport
import Testing

/// `using` disposes of the stream's subscription first, and then of the resource that the stream uses, once each.
@Suite struct UsingTests {
  private let record = Record<String>()

  /// A stream with a resource, whose subscription runs `body`. With `cutOff` it has one element inside of `using`.
  private func stream(
    cutOff: Bool = false, _ body: @escaping @Sendable (AnyObserver<Int>) -> Void
  ) -> Observable<Int> {
    .using(
      { [record] in
        record.append("made")
        // Not one that disposes once by itself, so that a second disposal would be seen.
        return Resource { record.append("resource") }
      },
      observableFactory: { [record] _ in
        let stream = Observable<Int>.create { observer in
          body(observer)
          return Disposables.create { record.append("stream") }
        }
        return cutOff ? stream.take(1) : stream
      })
  }

  @Test func `the resource outlives a stream that completes inside of its own subscription`() {
    let stream = stream {
      $0.onNext(1)
      $0.onCompleted()
    }
    record.observe(stream).dispose()
    #expect(record.elements == ["made", "next(1)", "completed", "stream", "resource"])
  }

  @Test func `the resource outlives a stream that fails inside of its own subscription`() {
    record.observe(stream { $0.onError(TestFailure()) }).dispose()
    #expect(record.elements == ["made", "error(failure)", "stream", "resource"])
  }

  @Test(arguments: [false, true])
  func `the resource outlives a stream that is cut off inside of its own subscription`(_ isInside: Bool) {
    let stream = stream(cutOff: isInside) {
      $0.onNext(1)
      $0.onNext(2)
    }
    record.observe(stream.take(1)).dispose()
    #expect(record.elements == ["made", "next(1)", "completed", "stream", "resource"])
  }

  @Test func `the resource outlives a stream that its observer disposes of inside of the subscription`() {
    let stream = stream {
      $0.onNext(1)
      $0.onNext(2)
    }
    let (trigger, subscription) = (PublishSubject<Int>(), SerialDisposable())
    subscription.disposable = trigger.flatMap { _ in stream }.subscribe { [record] in
      record.append("\($0)")
      subscription.dispose()
    }
    trigger.onNext(0)
    #expect(record.elements == ["made", "next(1)", "stream", "resource"])
  }

  @Test func `the resource outlives a stream that is over, or disposed of, later`() {
    for ends in [true, false] {
      let observers = Record<AnyObserver<Int>>()
      let subscription = record.observe(stream { observers.append($0) })
      observers.elements[0].onNext(1)
      #expect(record.elements.suffix(2) == ["made", "next(1)"])
      if ends { observers.elements[0].onCompleted() } else { subscription.dispose() }
      #expect(record.elements.suffix(3) == [ends ? "completed" : "next(1)", "stream", "resource"])
      let count = record.elements.count
      subscription.dispose()
      #expect(record.elements.count == count)
    }
  }

  @Test func `the resource of a stream that cannot be made is disposed of after the failure`() {
    let stream = Observable<Int>.using(
      { [record] in Resource { record.append("resource") } },
      observableFactory: { _ in throw TestFailure() })
    record.observe(stream).dispose()
    #expect(record.elements == ["error(failure)", "resource"])
  }

  @Test
  func `a disposal on another thread during the subscription leaves the resource to the subscribing thread`()
  {
    let (isInside, isDisposed) = (Gate(), Gate())
    let stream = stream { [record] _ in
      isInside.open()
      #expect(isDisposed.wait())
      record.append("subscribed")
    }
    // The subscription that another thread can dispose of while the stream is being subscribed to.
    let trigger = PublishSubject<Int>()
    let subscription = trigger.flatMap { _ in stream }.subscribe()
    let hasSubscribed = Threads.start { trigger.onNext(0) }
    #expect(isInside.wait())
    subscription.dispose()
    #expect(record.elements == ["made"])
    isDisposed.open()
    #expect(hasSubscribed.wait())
    #expect(record.elements == ["made", "subscribed", "stream", "resource"])
  }
}

/// Calls its closure at each disposal.
private struct Resource: Disposable {
  let onDisposal: @Sendable () -> Void

  init(_ onDisposal: @escaping @Sendable () -> Void) { self.onDisposal = onDisposal }

  func dispose() { onDisposal() }
}
