import TestSupport
import Testing

@testable import ReactorRuntime

@Suite struct MaybeTests {
  private let record = Record<String>()
  private let feed = Feed<Int>()

  @Test func `a maybe sends one result`() {
    let kept = Record<Maybe<Int>.MaybeObserver>()
    let maybe = Maybe<Int>.create { observer in
      kept.append(observer)
      return Disposables.create()
    }
    _ = record.note(maybe)
    kept.elements[0](.success(1))
    kept.elements[0](.completed)
    _ = record.note(maybe)
    kept.elements[1](.completed)
    kept.elements[1](.success(1))
    _ = record.note(maybe)
    kept.elements[2](.error(TestFailure()))
    #expect(record.elements == ["success(1)", "completed", "error(failure)"])
    Maybe.just(2).subscribe { [record] in record.append("\($0)") }
    Maybe<Int>.empty().subscribe { [record] in record.append("\($0)") }
    #expect(record.elements.suffix(2) == ["success(2)", "completed"])
  }

  @Test func `an empty maybe goes on with what ifEmpty says`() {
    #expect(events(of: Maybe<Int>.empty().ifEmpty(default: 7).asObservable()) == ["next(7)", "completed"])
    #expect(events(of: Maybe.just(1).ifEmpty(default: 7).asObservable()) == ["next(1)", "completed"])
    #expect(
      events(of: Maybe<Int>.empty().ifEmpty(switchTo: .just(8) as Maybe).asObservable()) == [
        "next(8)", "completed",
      ])
    #expect(
      events(of: Maybe<Int>.error(TestFailure()).ifEmpty(default: 7).asObservable()) == ["error(failure)"])
    // Each subscription has its own element.
    let maybe = feed.stream.asMaybe().ifEmpty(default: 9)
    _ = record.note(maybe)
    feed.next(1)
    feed.complete()
    _ = record.note(maybe)
    feed.complete()
    #expect(record.elements.filter { $0 != "disposed" } == ["success(1)", "success(9)"])
  }

  @Test func `the operators of a maybe keep its grammar`() {
    // In parts: as one expression it takes the compiler five seconds.
    let text: Maybe<String> = Maybe.just(1).map { $0 + 1 }.filter { $0 > 1 }.flatMap { Maybe.just("\($0)") }
    let number: Maybe<Int> = text.compactMap { Int($0) }
    #expect(events(of: number.asObservable()) == ["next(2)", "completed"])
    #expect(
      events(of: Maybe<Int>.error(TestFailure()).catchAndReturn(1).asObservable()) == [
        "next(1)", "completed",
      ])
    #expect(events(of: Maybe.just(1).flatMapCompletable { _ in .empty() }.asObservable()) == ["completed"])
    #expect(events(of: Maybe.just(1).asCompletable().asObservable()) == ["completed"])
    struct Late: Error {}
    let errors = HookedErrors { $0 is Late }
    #expect(
      events(of: Maybe.just(1).do(onCompleted: { throw Late() }).asObservable()) == ["next(1)", "completed"])
    #expect(errors.stop().count == 1)
    #expect(
      events(of: Maybe<Int>.empty().do(onCompleted: { throw TestFailure() }).asObservable()) == [
        "error(failure)"
      ])
  }

  private final class Owner: Sendable {}

  @Test func `a maybe calls closures with an object that it does not retain`() {
    let subject = PublishSubject<Int>()
    func subscribe(_ maybe: Maybe<Int>, _ owner: Owner) {
      maybe.subscribe(
        with: owner, onSuccess: { [record] in record.append("success(\($1))") },
        onError: { [record] in record.append("error(\($1))") },
        onCompleted: { [record] _ in record.append("completed") },
        onDisposed: { [record] _ in record.append("disposed") })
    }
    let owner = Owner()
    for maybe in [Maybe.just(1), .error(TestFailure()), .empty()] { subscribe(maybe, owner) }
    #expect(
      record.elements == ["success(1)", "disposed", "error(failure)", "disposed", "completed", "disposed"])
    do {
      let brief = Owner()
      subscribe(subject.asMaybe(), brief)
      withExtendedLifetime(brief) {}
    }
    subject.onNext(1)
    subject.onCompleted()
    #expect(record.elements.count == 6)
    withExtendedLifetime(owner) {}
  }
}
