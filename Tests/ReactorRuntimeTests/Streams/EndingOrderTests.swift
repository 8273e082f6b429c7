import ReactorRuntime
import TestSupport
import Testing

/// Whether an operator disposes of a stream that has ended before it passes the stop event on, or afterwards. What begins
/// because of that event can tell if it shares a source with the stream: it begins the source anew, or joins what goes on.
///
/// The expectations are what RxSwift 6.10.2 does.
@Suite struct EndingOrderTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether the stream is disposed of before its failure, and before its completion, is passed on.
    let endsFirst: (failure: Bool, completion: Bool)
    let wrap: @Sendable (Observable<Int>) -> Observable<Int>

    init(
      _ name: String, _ endsFirst: (failure: Bool, completion: Bool),
      _ wrap: @escaping @Sendable (Observable<Int>) -> Observable<Int>
    ) {
      testDescription = name
      self.endsFirst = endsFirst
      self.wrap = wrap
    }
  }

  private static let one = Observable.just(1)
  /// So that `zip` does not end with the first element.
  private static let two = Observable.of(1, 2)

  static let cases: [Case] = [
    Case("map", (false, false)) { $0.map { $0 } },
    Case("the inner stream of concatMap", (false, true)) { stream in one.concatMap { _ in stream } },
    Case("the outer stream of concatMap", (false, false)) { $0.concatMap { .just($0) } },
    Case("the inner stream of flatMap", (false, true)) { stream in one.flatMap { _ in stream } },
    Case("the inner stream of flatMapFirst", (false, true)) { stream in one.flatMapFirst { _ in stream } },
    Case("the inner stream of flatMapLatest", (true, true)) { stream in one.flatMapLatest { _ in stream } },
    Case("merge", (false, true)) { .merge($0, .empty()) },
    Case("concat", (false, true)) { $0.concat(Observable<Int>.empty()) },
    Case("combineLatest of two", (true, true)) { .combineLatest($0, one) { first, _ in first } },
    Case("combineLatest of three", (true, true)) { .combineLatest($0, one, one) { first, _, _ in first } },
    Case("combineLatest of five", (true, true)) {
      .combineLatest($0, one, one, one, one) { first, _, _, _, _ in first }
    },
    Case("combineLatest of a list", (false, false)) { .combineLatest([$0, one]) { $0[0] } },
    Case("zip of two", (true, true)) { .zip($0, two) { first, _ in first } },
    Case("zip of three", (true, true)) { .zip($0, two, two) { first, _, _ in first } },
    Case("zip of a list", (false, false)) { .zip([$0, two]) { $0[0] } },
    Case("withLatestFrom", (false, false)) { $0.withLatestFrom(one) { first, _ in first } },
    Case("take(until:)", (false, false)) { $0.take(until: Observable<Int>.never()) },
    Case("skip(until:)", (false, false)) { $0.skip(until: one) },
    Case("share", (false, false)) { $0.share() },
    Case("share with one element", (false, false)) { $0.share(replay: 1) },
    Case("share with two elements", (true, true)) { $0.share(replay: 2) },
    Case("share forever", (true, true)) { $0.share(scope: .forever) },
    Case("share forever with one element", (true, true)) { $0.share(replay: 1, scope: .forever) },
  ]

  private let subject = ReplaySubject<Int>.create(bufferSize: 1)
  private let record = Record<String>()

  @Test(arguments: cases)
  func `a stream that follows a failure finds a shared source as it does in RxSwift`(_ tested: Case) {
    let shared = subject.share()
    let failing = shared.map { if $0 == 3 { throw TestFailure() } else { $0 } }
    let subscription = record.observe(tested.wrap(failing).catch { _ in shared.map { $0 * 10 } })
    subject.onNext(3)
    subject.onNext(4)
    #expect(record.elements == (tested.endsFirst.failure ? ["next(30)", "next(40)"] : ["next(40)"]))
    subscription.dispose()
    #expect(!subject.hasObservers)
  }

  @Test func `a stream that follows one that ends inside of its own subscription joins a shared source`() {
    subject.onNext(3)
    let shared = subject.share()
    let failing = shared.map { if $0 == 3 { throw TestFailure() } else { $0 } }
    let caught = record.observe(failing.catch { _ in shared.map { $0 * 10 } })
    subject.onNext(4)
    #expect(record.elements == ["next(40)"])
    caught.dispose()
    let completable = shared.take(1).ignoreElements().asCompletable()
    let after = record.observe(completable.andThen(shared.map { $0 * 100 }))
    subject.onNext(5)
    #expect(record.elements == ["next(40)", "next(500)"])
    after.dispose()
    #expect(!subject.hasObservers)
  }

  @Test func `the handler of a failure is called before the failed subscription ends`() {
    let failing = Observable<Int>.error(TestFailure()).do(
      onSubscribed: { [record] in record.append("subscribed") },
      onDispose: { [record] in record.append("disposed") })
    let caught = failing.catch { [record] _ in
      record.append("handler")
      return .just(1)
    }
    _ = record.observe(caught)
    #expect(record.elements == ["handler", "next(1)", "completed", "subscribed", "disposed"])
  }

  @Test(arguments: cases)
  func `an observer of a completion finds a source as it does in RxSwift`(_ tested: Case) {
    let stream = tested.wrap(subject.take(while: { $0 != 3 }))
    let subscription = stream.subscribe(
      onNext: { [record] in record.append("\($0)") },
      onCompleted: { [record, subject] in record.append("observed: \(subject.hasObservers)") })
    subject.onNext(2)
    subject.onNext(3)
    #expect(record.elements == ["2", "observed: \(!tested.endsFirst.completion)"])
    #expect(!subject.hasObservers)
    subscription.dispose()
  }

  @Test func `a stream that waits for another one to end begins a source anew that both share`() {
    let last = ReplaySubject<Int>.create(bufferSize: 2)
    let inner = last.share().take(while: { $0 != 3 })
    let subscription = record.observe(Observable.of(inner, inner).concat())
    last.onNext(2)
    last.onNext(3)
    // Both elements are replayed to the second stream, which ends with the last of them.
    #expect(record.elements == ["next(2)", "next(2)", "completed"])
    #expect(!last.hasObservers)
    subscription.dispose()
  }
}
