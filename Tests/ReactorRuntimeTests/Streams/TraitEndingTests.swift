import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// The order in which traits end one stream and begin the next, and what comes after a result. As in RxSwift 6.10.2.
@Suite struct TraitEndingTests {
  private let record = Record<String>()
  private let subject = PublishSubject<Int>()

  /// A source that records its subscriptions, and that subscribers share.
  private var shared: Observable<Int> {
    let (record, subject) = (record, subject)
    return Observable<Int>.create { observer in
      record.append("begin")
      let subscription = subject.subscribe(observer)
      return Disposables.create {
        record.append("end")
        subscription.dispose()
      }
    }.share()
  }

  @Test func `andThen goes on with a source that both streams share`() {
    let shared = shared
    let subscription = shared.take(1).ignoreElements().asCompletable().andThen(shared)
      .subscribe(onNext: { [record] in record.append("\($0)") })
    subject.onNext(1)
    #expect(record.elements == ["begin"])
    subject.onNext(2)
    subscription.dispose()
    #expect(record.elements == ["begin", "2", "end"])
    #expect(!subject.hasObservers)
  }

  @Test func `ifEmpty goes on with a source that both streams share`() {
    let shared = shared
    shared.take(1).filter { $0 > 1 }.asMaybe().ifEmpty(switchTo: shared.take(1).asSingle())
      .subscribe(onSuccess: { [record] in record.append("\($0)") })
    subject.onNext(1)
    #expect(record.elements == ["begin"])
    subject.onNext(2)
    #expect(record.elements == ["begin", "2", "end"])
    #expect(!subject.hasObservers)
  }

  @Test func `concat of completables begins a shared source anew`() {
    let shared = shared
    let one = shared.take(1).ignoreElements().asCompletable()
    one.concat(one).subscribe(onCompleted: { [record] in record.append("completed") })
    subject.onNext(1)
    #expect(record.elements == ["begin", "end", "begin"])
    subject.onNext(2)
    #expect(record.elements == ["begin", "end", "begin", "completed", "end"])
  }

  @Test func `a failure of the first stream or of the second ends both forms`() {
    let error = TestFailure()
    let failing = Completable.error(error)
    failing.andThen(Single.just(1)).subscribe(
      onSuccess: { _ in Issue.record("it goes on after a failure") },
      onFailure: { [record] _ in record.append("first") })
    Completable.empty().andThen(failing).subscribe(onError: { [record] _ in record.append("second") })
    Maybe<Int>.empty().ifEmpty(switchTo: Single<Int>.error(error)).subscribe(
      onFailure: { [record] _ in record.append("third") })
    #expect(record.elements == ["first", "second", "third"])
  }

  /// The completion may come much later than the element if both pass through a queue.
  @Test(arguments: [false, true])
  func `a result that came in time does not time out afterwards`(hasOther: Bool) {
    let (test, holding) = (TestScheduler(initialClock: 0), HoldingScheduler())
    let single = Single<Int>.create { observer in
      observer(.success(1))
      return Disposables.create()
    }.observe(on: holding)
    let timed =
      hasOther
      ? single.timeout(.seconds(10), other: .just(2), scheduler: test)
      : single.timeout(.seconds(10), scheduler: test)
    timed.subscribe(
      onSuccess: { [record] in record.append("\($0)") },
      onFailure: { [record] in record.append("\($0)") })
    #expect(record.elements == ["1"])
    test.advanceBy(11)
    #expect(record.elements == ["1"])
    holding.runAll()
    #expect(record.elements == ["1"])
  }

  @Test(arguments: [false, true])
  func `onDisposed comes after the stop event and before the end of the source`(endsAtOnce: Bool) {
    let observers = Record<AnyObserver<Int>>()
    Observable<Int>.create { [record] observer in
      if endsAtOnce { observer.onCompleted() } else { observers.append(observer) }
      return Disposables.create { record.append("source") }
    }.subscribe(
      onCompleted: { [record] in record.append("completed") },
      onDisposed: { [record] in record.append("disposed") })
    for observer in observers.elements { observer.onCompleted() }
    #expect(record.elements == ["completed", "disposed", "source"])
  }
}

/// Runs its first action at once, and keeps the others.
private final class HoldingScheduler: ImmediateSchedulerType {
  private let held = Record<@Sendable () -> Void>()
  private let hasRun = Record<Void>()

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    if hasRun.elements.isEmpty {
      hasRun.append(())
      action()
    } else {
      held.append(action)
    }
    return Disposables.create()
  }

  func runAll() { for action in held.elements { action() } }
}
