#if RxSwift
  import ReactorRuntime
  import RxSwift
  import TestSupport
  import Testing

  /// Conversions between streams of this package and RxSwift's.
  @Suite struct ConversionTests {
    private struct Failed: Error {}

    private func note(_ stream: RxSwift.Observable<Int>, in record: Record<String>) -> any RxSwift.Disposable
    {
      stream.subscribe(
        onNext: { record.append("\($0)") }, onError: { record.append("\($0)") },
        onCompleted: { record.append("completed") })
    }

    private func note(
      _ stream: ReactorRuntime.Observable<Int>, in record: Record<String>
    ) -> any ReactorRuntime.Disposable {
      stream.subscribe(
        onNext: { record.append("\($0)") }, onError: { record.append("\($0)") },
        onCompleted: { record.append("completed") })
    }

    @Test func `a stream of this package sends its elements and its end to RxSwift's observers`() {
      let record = Record<String>()
      _ = note(ReactorRuntime.Observable.of(1, 2).asRxObservable().map { $0 * 10 }, in: record)
      _ = note(ReactorRuntime.Observable<Int>.error(Failed()).asRxObservable(), in: record)
      #expect(record.elements == ["10", "20", "completed", "Failed()"])
    }

    @Test func `a stream of RxSwift's sends its elements and its end to observers of this package`() {
      let record = Record<String>()
      _ = note(RxSwift.Observable.of(1, 2).map { $0 * 10 }.asReactorObservable(), in: record)
      _ = note(RxSwift.Observable<Int>.error(Failed()).asReactorObservable(), in: record)
      _ = note(RxSwift.Single.just(3).asReactorObservable(), in: record)
      #expect(record.elements == ["10", "20", "completed", "Failed()", "3", "completed"])
    }

    @Test func `disposing a subscription of RxSwift's disposes the subscription to our stream`() {
      let subject = ReactorRuntime.PublishSubject<Int>()
      let record = Record<String>()
      let subscription = note(subject.asRxObservable(), in: record)
      subject.onNext(1)
      #expect(subject.hasObservers)
      subscription.dispose()
      #expect(!subject.hasObservers)
      #expect(record.elements == ["1"])
    }

    @Test func `disposing our subscription disposes the subscription to RxSwift's stream`() {
      let subject = RxSwift.PublishSubject<Int>()
      let record = Record<String>()
      let subscription = note(subject.asReactorObservable(), in: record)
      subject.onNext(1)
      #expect(subject.hasObservers)
      subscription.dispose()
      #expect(!subject.hasObservers)
      #expect(record.elements == ["1"])
    }

    @Test func `a stream survives the way to RxSwift and back`() {
      let relay = StateRelay(value: 1)
      let record = Record<String>()
      let subscription = note(relay.asRxObservable().asReactorObservable(), in: record)
      relay.accept(2)
      subscription.dispose()
      relay.accept(3)
      #expect(record.elements == ["1", "2"])
    }

    @Test func `a stream of RxSwift's can be bound to an observer of ours, and the other way round`() {
      let relay = StateRelay(value: 0)
      _ = RxSwift.Observable.just(5).subscribe(relay.asRxObserver())
      #expect(relay.value == 5)
      let subject = RxSwift.BehaviorSubject(value: 0)
      _ = ReactorRuntime.Observable.just(6).subscribe(subject.asReactorObserver())
      #expect((try? subject.value()) == 6)
    }

    // RxSwift warns about this in debug builds, because its contract makes the user responsible.
    @Test func `elements that RxSwift emits on several threads at once arrive one at a time`() {
      let subject = RxSwift.PublishSubject<Int>()
      let onAnyThread = subject.asReactorObserver()
      let record = Record<String>()
      let isInside = Gate()
      let mayGoOn = Gate()
      let subscription = subject.asReactorObservable().subscribe(onNext: { element in
        record.append("begin \(element)")
        if element == 1 {
          isInside.open()
          _ = mayGoOn.wait()
        }
        record.append("end \(element)")
      })
      let ended = Threads.start { onAnyThread.onNext(1) }
      #expect(isInside.wait())
      onAnyThread.onNext(2)
      mayGoOn.open()
      #expect(ended.wait())
      #expect(record.elements == ["begin 1", "end 1", "begin 2", "end 2"])
      subscription.dispose()
    }

    @Test func `conversions hold no objects after the disposal`() {
      let lifetimes = Lifetimes()
      let ours = ReactorRuntime.PublishSubject<Int>()
      let theirs = RxSwift.PublishSubject<Int>()
      let first = ours.asRxObservable().subscribe(onNext: { [kept = lifetimes.track()] _ in _ = kept })
      let second = theirs.asReactorObservable().subscribe(onNext: { [kept = lifetimes.track()] _ in _ = kept }
      )
      #expect(lifetimes.alive == 2)
      first.dispose()
      second.dispose()
      #expect(lifetimes.alive == 0)
      withExtendedLifetime((ours, theirs, first, second)) {}
    }
  }
#endif
