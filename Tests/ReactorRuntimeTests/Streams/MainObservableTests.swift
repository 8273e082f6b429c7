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

  @MainActor private func eventually(_ isTrue: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(patience)
    while !isTrue() {
      if ContinuousClock.now > deadline { return false }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return true
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
}
