import ReactorRuntime
import TestSupport
import Testing

/// Subscriptions whose closures are on the main actor, with events that come from another thread.
@Suite struct MainObservableTests {
  /// What closures on the main actor may change.
  @MainActor final class View {
    var log: [String] = []
  }

  private struct Failed: Error {}
  private let subject = PublishSubject<Int>()
  private var onMain: MainObservable<Int> { subject.observe(on: MainScheduler.instance) }

  /// Sends the events on a thread of its own.
  private func send(_ events: Event<Int>...) {
    let isSent = Threads.start { [subject] in for event in events { subject.on(event) } }
    #expect(isSent.wait())
  }

  @Test @MainActor func `a closure on the main actor gets each event`() async {
    let view = View()
    onMain.subscribe { view.log.append("\($0)") }
    send(.next(1), .next(2), .completed, .next(3))
    #expect(await eventually { view.log.count == 3 })
    #expect(view.log == ["next(1)", "next(2)", "completed"])
  }

  @Test @MainActor func `closures on the main actor get the elements and the end`() async {
    let view = View()
    let disposed = Record<String>()
    onMain.subscribe(
      onNext: { view.log.append("\($0)") }, onError: { view.log.append("\($0)") },
      onCompleted: { view.log.append("completed") }, onDisposed: { disposed.append("disposed") })
    send(.next(1), .completed)
    #expect(await eventually { disposed.elements.count == 1 })
    #expect(view.log == ["1", "completed"])
  }

  @Test @MainActor func `a closure on the main actor gets the failure`() async {
    let view = View()
    onMain.subscribe(onError: { view.log.append("\($0)") })
    onMain.subscribe(with: view, onError: { view, error in view.log.append("with \(error)") })
    send(.next(1), .error(Failed()))
    #expect(await eventually { view.log.count == 2 })
    #expect(view.log == ["Failed()", "with Failed()"])
  }

  @Test @MainActor func `a failure that no closure on the main actor gets is passed to the hook`() async {
    struct Missed: Error {}
    let errors = HookedErrors { $0 is Missed }
    let view = View()
    onMain.subscribe(onNext: { view.log.append("\($0)") })
    onMain.subscribe(with: view, onNext: { $0.log.append("with \($1)") })
    onMain.bind { view.log.append("bound \($0)") }
    send(.next(1), .error(Missed()))
    #expect(await eventually { errors.errors.count == 3 })
    #expect(errors.stop().count == 3)
    #expect(view.log == ["1", "with 1", "bound 1"])
  }

  @Test @MainActor func `bound closures on the main actor get the elements`() async {
    let view = View()
    onMain.bind { view.log.append("\($0)") }
    onMain.bind(with: view) { $0.log.append("with \($1)") }
    send(.next(1), .completed)
    #expect(await eventually { view.log.count == 2 })
    #expect(view.log == ["1", "with 1"])
  }

  @Test @MainActor func `an object that the closures on the main actor get is not retained`() async {
    let log = View()
    let disposed = Record<Int>()
    weak var weakView: View?
    do {
      let view = View()
      weakView = view
      onMain.subscribe(
        with: view, onNext: { log.log.append("\($0.log) \($1)") },
        onCompleted: { log.log.append("\($0.log) completed") }, onDisposed: { _ in disposed.append(1) })
      onMain.subscribe(
        with: log, onCompleted: { $0.log.append("last") }, onDisposed: { _ in disposed.append(2) })
      send(.next(1))
      #expect(await eventually { log.log.count == 1 })
      withExtendedLifetime(view) {}
    }
    #expect(weakView == nil)
    send(.next(2), .completed)
    #expect(await eventually { !disposed.elements.isEmpty })
    #expect(log.log == ["[] 1", "last"])
    #expect(disposed.elements == [2])
  }

  @Test @MainActor func `disposal on the main actor ends the delivery to it at once`() async {
    let view = View()
    let subscription = SerialDisposable()
    subscription.disposable = onMain.subscribe(onNext: {
      view.log.append("\($0)")
      subscription.dispose()
    })
    let others = onMain.subscribe(onNext: { if $0 == 3 { view.log.append("end") } })
    send(.next(1), .next(2), .next(3))
    #expect(await eventually { view.log.last == "end" })
    #expect(view.log == ["1", "end"])
    others.dispose()
    #expect(!subject.hasObservers)
  }

  @Test @MainActor
  func `the asynchronous scheduler leaves an element to the queue, for closures on the main actor`()
    async
  {
    let view = View()
    Observable.just(1).observe(on: MainScheduler.asyncInstance).subscribe(onNext: {
      view.log.append("\($0)")
    })
    Single.just(2).observe(on: MainScheduler.asyncInstance).subscribe(onSuccess: {
      view.log.append("\($0)")
    })
    #expect(view.log == [])
    #expect(await eventually { view.log.count == 2 })
    #expect(view.log == ["1", "2"])
  }

  @Test @MainActor func `as a stream it has operators, and delivers on the main queue`() async {
    let view = View()
    onMain.asObservable().map { $0 + 1 }.subscribe(onNext: { element in
      MainActor.assumeIsolated { view.log.append("\(element)") }
    })
    Observable.just(5).concat(onMain).subscribe(onNext: { element in
      MainActor.assumeIsolated { view.log.append("\(element)") }
    })
    #expect(view.log == ["5"])
    send(.next(1))
    #expect(await eventually { view.log.count == 3 })
    #expect(view.log == ["5", "2", "1"])
  }

  @Test @MainActor func `an operator may follow, and observe(on:) again`() async {
    let view = View()
    let kept = onMain
    kept.map { $0 + 1 }.observe(on: MainScheduler.instance).subscribe(onNext: { view.log.append("\($0)") })
    kept.subscribe().dispose()
    send(.next(1))
    #expect(await eventually { view.log == ["2"] })
  }

  // The closures touch what is on the main actor: that they compile is the test.

  @Test @MainActor func `closures on the main actor get the result of a single`() async {
    let view = View()
    let disposed = Record<Int>()
    for single in [Single.just(1), .error(Failed())] {
      single.observe(on: MainScheduler.instance).subscribe { view.log.append("\($0)") }
      single.observe(on: MainScheduler.instance).subscribe(
        onSuccess: { [weak view] in view?.log.append("success \($0)") },
        onFailure: { view.log.append("\($0)") }, onDisposed: { disposed.append(1) })
      single.observe(on: MainScheduler.instance).subscribe(
        with: view, onSuccess: { $0.log.append("with \($1)") }, onFailure: { $0.log.append("with \($1)") })
    }
    #expect(await eventually { view.log.count == 6 && disposed.elements.count == 2 })
    #expect(
      view.log == [
        "success(1)", "success 1", "with 1", "failure(\(String(reflecting: Failed())))", "Failed()",
        "with Failed()",
      ])
  }

  @Test @MainActor func `closures on the main actor get the result of a maybe`() async {
    let view = View()
    for maybe in [Maybe.just(1), .error(Failed()), .empty()] {
      maybe.observe(on: MainScheduler.instance).subscribe { view.log.append("\($0)") }
      maybe.observe(on: MainScheduler.instance).subscribe(
        onSuccess: { view.log.append("\($0)") }, onError: { view.log.append("\($0)") },
        onCompleted: { view.log.append("none") })
      maybe.observe(on: MainScheduler.instance).subscribe(
        with: view, onSuccess: { $0.log.append("with \($1)") }, onError: { $0.log.append("with \($1)") },
        onCompleted: { $0.log.append("with none") })
    }
    #expect(await eventually { view.log.count == 9 })
    #expect(
      view.log == [
        "success(1)", "1", "with 1", "error(\(String(reflecting: Failed())))", "Failed()", "with Failed()",
        "completed", "none",
        "with none",
      ])
  }

  @Test @MainActor func `closures on the main actor get the result of a completable`() async {
    let view = View()
    for completable in [Completable.empty(), .error(Failed())] {
      completable.observe(on: MainScheduler.instance).subscribe { view.log.append("\($0)") }
      completable.observe(on: MainScheduler.instance).subscribe(
        onCompleted: { view.log.append("done") }, onError: { view.log.append("\($0)") })
      completable.observe(on: MainScheduler.instance).subscribe(
        with: view, onCompleted: { $0.log.append("with") }, onError: { $0.log.append("with \($1)") })
    }
    #expect(await eventually { view.log.count == 6 })
    #expect(
      view.log == [
        "completed", "done", "with", "error(\(String(reflecting: Failed())))", "Failed()", "with Failed()",
      ])
  }

  @Test func `a single that an operator or a type follows is a single`() async {
    let kept: Single<Int> = Single.just(1).observe(on: MainScheduler.instance)
    let untyped = Single.just(1).observe(on: MainScheduler.instance)
    let maybe = Maybe.just(1).observe(on: MainScheduler.instance)
    let completable = Completable.empty().observe(on: MainScheduler.instance)
    let streams: [Observable<Int>] = [
      kept.map { $0 + 1 }.asObservable(), untyped.map { $0 + 1 }.catchAndReturn(0).asObservable(),
      maybe.filter { $0 == 1 }.asObservable(), completable.andThen(kept).asObservable(),
      untyped.flatMap { Single.just($0) }.retry(2).asObservable(),
    ]
    let log = Record<String>()
    for (index, stream) in streams.enumerated() {
      stream.subscribe(
        onNext: { log.append("\(index): \($0)") }, onCompleted: { log.append("\(index): end") })
    }
    #expect(await eventually { log.elements.count == 10 })
    let expected = [2, 2, 1, 1, 1].enumerated().flatMap { ["\($0): \($1)", "\($0): end"] }
    #expect(log.elements.sorted() == expected)
  }
}
