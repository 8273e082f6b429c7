import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// Single, and what several traits have.
@Suite struct TraitsTests {
  private let record = Record<String>()
  private let feed = Feed<Int>()

  @Test func `a single sends the first result only, and then disposes of its source`() {
    let kept = Record<Single<Int>.SingleObserver>()
    let single = Single<Int>.create { [record] observer in
      kept.append(observer)
      return Disposables.create { record.append("source disposed") }
    }
    let events = Record<String>()
    let subscription = events.observe(single.asObservable())
    kept.elements[0](.success(1))
    kept.elements[0](.success(2))
    kept.elements[0](.failure(TestFailure()))
    #expect(events.elements == ["next(1)", "completed"])
    #expect(record.elements == ["source disposed"])
    subscription.dispose()
    _ = record.note(
      Single<Int>.create {
        $0(.failure(TestFailure()))
        $0(.success(1))
        return Disposables.create()
      })
    #expect(record.elements == ["source disposed", "failure(failure)", "disposed"])
  }

  /// Two threads may call the observer between the element and the completion of each other.
  @Test func `a result that comes while the first one is being delivered is ignored`() {
    let kept = Record<Single<Int>.SingleObserver>()
    let single = Single<Int>.create { observer in
      kept.append(observer)
      return Disposables.create()
    }
    let subscription = single.asObservable().subscribe { [record] event in
      record.append("\(event)")
      if event.element == 1 { kept.elements[0](.success(2)) }
    }
    kept.elements[0](.success(1))
    #expect(record.elements == ["next(1)", "completed"])
    subscription.dispose()
  }

  @Test func `the operators of a single keep one result`() {
    _ = record.note(Single.just(1).map { $0 + 1 }.flatMap { .just("\($0)") })
    #expect(record.elements == ["success(2)", "disposed"])
    let failing = Single<Int>.error(TestFailure())
    #expect(events(of: failing.catchAndReturn(3).asObservable()) == ["next(3)", "completed"])
    #expect(events(of: failing.catch { .just("\($0)".count) }.asObservable()) == ["next(7)", "completed"])
    #expect(events(of: Single.just(1).map { _ in throw TestFailure() }.asObservable()) == ["error(failure)"])
    #expect(events(of: Single.just(1).filter { $0 > 1 }.asObservable()) == ["completed"])
    #expect(events(of: Single.just(1).compactMap { $0 * 2 }.asObservable()) == ["next(2)", "completed"])
    #expect(
      events(of: Single.just(1).flatMapMaybe { _ in Maybe<Int>.empty() }.asObservable()) == ["completed"])
    #expect(
      events(of: Single.just(1).flatMapCompletable { _ in .error(TestFailure()) }.asObservable()) == [
        "error(failure)"
      ])
    #expect(events(of: Single.just(1).asCompletable().asObservable()) == ["completed"])
    #expect(events(of: Single.just(1).asMaybe().asObservable()) == ["next(1)", "completed"])
    #expect(events(of: Single<Int>.deferred { throw TestFailure() }.asObservable()) == ["error(failure)"])
    #expect(events(of: Single<Int>.never().asObservable()) == [])
  }

  @Test func `a single subscribes again as often as it was asked to`() {
    let tries = Record<Int>()
    let failing = Single<Int>.deferred {
      tries.append(1)
      return tries.elements.count < 3 ? .error(TestFailure()) : .just(7)
    }
    #expect(events(of: failing.retry(2).asObservable()) == ["error(failure)"])
    #expect(events(of: failing.retry(1).asObservable()) == ["next(7)", "completed"])
    #expect(tries.elements.count == 3)
  }

  @Test func `zip of singles waits for all, and fails with the first failure`() {
    let other = Feed<Int>()
    _ = record.note(Single.zip(feed.stream.asSingle(), other.stream.asSingle()) { $0 * $1 })
    feed.next(3)
    feed.complete()
    other.next(5)
    #expect(record.elements == [])
    other.complete()
    #expect(record.elements == ["success(15)", "disposed"])
    #expect(
      events(of: Single.zip(.just(1), .just("a"), .just(2)).asObservable()) == [
        "next((1, \"a\", 2))", "completed",
      ])
    #expect(
      events(of: Single.zip(.just(1), .just(2), .just(3), .just(4)) { $0 + $1 + $2 + $3 }.asObservable()) == [
        "next(10)", "completed",
      ])
    #expect(
      events(of: Single.zip([Single.just(1), .just(2)]).asObservable()) == ["next([1, 2])", "completed"])
    #expect(events(of: Single.zip([Single<Int>]()).asObservable()) == ["next([])", "completed"])
    let broken = Single.zip(Single<Int>.never(), Single<Int>.error(TestFailure()))
    #expect(events(of: broken.asObservable()) == ["error(failure)"])
  }

  @Test func `what afterSuccess throws does not follow the element`() {
    struct Late: Error {}
    let errors = HookedErrors { $0 is Late }
    let single = Single.just(1).do(
      onSuccess: { [record] in record.append("on \($0)") }, afterSuccess: { _ in throw Late() })
    #expect(events(of: single.asObservable()) == ["next(1)", "completed"])
    #expect(record.elements == ["on 1"])
    #expect(errors.stop().count == 1)
  }

  @Test func `an object that is gone gets no result`() {
    final class View: Sendable {}
    var view: View? = View()
    feed.stream.asSingle().subscribe(with: view!, onSuccess: { [record] in record.append("\($1)") })
    feed.stream.asSingle().subscribe(onSuccess: { [record] in record.append("plain \($0)") })
    view = nil
    feed.next(1)
    feed.complete()
    #expect(record.elements == ["plain 1"])
  }

  @Test func `a task gets the value of a single, or its error`() async throws {
    #expect(try await Single.just(1).value == 1)
    await #expect(throws: TestFailure.self) { try await Single<Int>.error(TestFailure()).value }
  }

  @Test func `a single has the operators of time and threads`() {
    let scheduler = TestScheduler(initialClock: 0)
    _ = record.note(
      Single.just(1).delay(.seconds(2), scheduler: scheduler).timeout(
        .seconds(1), other: .just(2), scheduler: scheduler))
    _ = record.note(
      Single.just(3).delaySubscription(.seconds(3), scheduler: scheduler).observe(on: scheduler).subscribe(
        on: scheduler))
    _ = record.note(Single<Int>.never().timeout(.seconds(9), scheduler: scheduler))
    scheduler.start()
    #expect(
      record.elements.filter { $0 != "disposed" } == [
        "success(2)", "success(3)", "failure(no element came in time)",
      ])
  }

  // MARK: From streams

  @Test func `asSingle fails without an element and at the second one`() {
    #expect(events(of: Observable.just(1).asSingle().asObservable()) == ["next(1)", "completed"])
    #expect(events(of: Observable<Int>.empty().asSingle().asObservable()) == ["error(\(RxError.noElements))"])
    _ = record.note(feed.stream.asSingle())
    feed.next(1)
    #expect(record.elements == [])
    feed.next(2)
    #expect(record.elements == ["failure(\(RxError.moreThanOneElement))", "disposed"])
    #expect(feed.subscriptions == 0)
  }

  @Test func `asMaybe may be empty, and fails at the second element`() {
    #expect(events(of: Observable<Int>.empty().asMaybe().asObservable()) == ["completed"])
    #expect(events(of: Observable.just(1).asMaybe().asObservable()) == ["next(1)", "completed"])
    #expect(
      events(of: Observable.of(1, 2).asMaybe().asObservable()) == ["error(\(RxError.moreThanOneElement))"])
    #expect(
      events(of: Observable<Int>.empty().asMaybe().asSingle().asObservable()) == [
        "error(\(RxError.noElements))"
      ])
  }

  @Test func `first takes one element and leaves`() {
    _ = record.note(feed.stream.first())
    feed.next(1)
    #expect(record.elements == ["success(Optional(1))", "disposed"])
    #expect(feed.subscriptions == 0)
    #expect(events(of: Observable<Int>.empty().first().asObservable()) == ["next(nil)", "completed"])
  }

  @Test func `toArray sends all elements when the stream completes`() {
    #expect(events(of: Observable.of(1, 2, 3).toArray().asObservable()) == ["next([1, 2, 3])", "completed"])
    #expect(events(of: Observable<Int>.empty().toArray().asObservable()) == ["next([])", "completed"])
    #expect(events(of: Observable<Int>.error(TestFailure()).toArray().asObservable()) == ["error(failure)"])
  }

  @Test func `operators that take streams take traits as well`() {
    #expect(
      events(of: Observable.of(1, 2).flatMap { Single.just($0 * 2) }) == ["next(2)", "next(4)", "completed"])
    #expect(
      events(of: Observable.of(1, 2).flatMapLatest { Maybe.just($0) }) == ["next(1)", "next(2)", "completed"])
    #expect(
      events(of: Observable.of(1, 2).concatMap { Single.just($0) }) == ["next(1)", "next(2)", "completed"])
    #expect(events(of: Observable.just(1).withLatestFrom(Single.just(2))) == ["next(2)", "completed"])
    #expect(events(of: Observable.just(1).concat(Single.just(2))) == ["next(1)", "next(2)", "completed"])
  }

  @Test func `traits are tried again when the stream of the handler says so`() {
    let tries = Record<Int>()
    let failing = Observable<Int>.deferred {
      tries.append(1)
      return tries.elements.count < 3 ? .error(TestFailure()) : .just(7)
    }
    _ = record.note(failing.asSingle().retry(when: { $0 }))
    #expect(record.elements == ["success(7)", "disposed"])
    #expect(tries.elements.count == 3)
    let hopeless = Maybe<Int>.error(TestFailure("first"))
    _ = record.note(hopeless.retry(when: { $0.flatMap { Observable<Int>.error($0) } }))
    let ended = Observable<Int>.error(TestFailure("third"))
    _ = record.note(Completable.error(TestFailure("second")).retry(when: { _ in ended }))
    #expect(record.elements.suffix(2) == ["error(first)", "error(third)"])
  }

  private struct OtherFailure: Error {}

  @Test func `a handler of retry may take errors of one type, and others end the retrying`() {
    let errors: [any Error] = [TestFailure(), TestFailure(), OtherFailure()]
    let tries = Record<Int>()
    let failing = Observable<Int>.deferred {
      tries.append(1)
      return .error(errors[tries.elements.count - 1])
    }
    let seen = Record<String>()
    #expect(
      events(
        of: failing.retry(when: { (failures: Observable<TestFailure>) in
          failures.do(onNext: { seen.append("\($0)") })
        })) == ["error(OtherFailure())"])
    #expect(seen.elements == ["failure", "failure"])
    let single = Single<Int>.error(OtherFailure()).retry(when: { (failures: Observable<TestFailure>) in
      failures
    })
    #expect(events(of: single.asObservable()) == ["error(OtherFailure())"])
  }

  @Test func `an error of another type ends the retrying whatever the handler's stream does`() {
    func tryTwice(_ handle: @escaping @Sendable (Observable<TestFailure>) -> Observable<Int>) -> [String] {
      let tries = Record<Int>()
      let errors: [any Error] = [TestFailure(), OtherFailure(), OtherFailure()]
      let failing = Observable<Int>.deferred {
        tries.append(1)
        return .error(errors[tries.elements.count - 1])
      }
      return events(of: failing.retry(when: handle)) + ["\(tries.elements.count)"]
    }
    // The handler's stream has completed, recovers from the error, or does not use the errors.
    #expect(tryTwice { $0.take(1).map { _ in 1 } } == ["error(OtherFailure())", "2"])
    #expect(tryTwice { $0.map { _ in 1 }.catch { _ in .just(1) } } == ["error(OtherFailure())", "2"])
    #expect(tryTwice { _ in Observable.of(1, 2) } == ["error(OtherFailure())", "2"])
  }

  @Test func `a timer of a single or a maybe sends one element`() {
    let scheduler = TestScheduler(initialClock: 0)
    _ = record.note(Single<Int>.timer(.seconds(5), scheduler: scheduler).map { $0 + 1 })
    _ = record.note(Maybe<Int>.timer(.seconds(7), scheduler: scheduler))
    scheduler.start()
    #expect(record.elements == ["success(1)", "disposed", "success(0)"])
    #expect(scheduler.clock == 7)
  }
}
