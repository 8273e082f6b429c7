import TestSupport
import Testing

@testable import ReactorRuntime

/// Operators that each trait passes on to its stream: whether all of their closures get there.
@Suite struct TraitOperatorTests {
  private let record = Record<String>()
  private let feed = Feed<Int>()

  private func note(_ text: String) -> @Sendable () -> Void { { [record] in record.append(text) } }

  private func noteValue<Value>(_ text: String) -> @Sendable (Value) -> Void {
    { [record] in record.append("\(text) \($0)") }
  }

  /// Subscribes twice, and returns what is recorded until the source has completed, and until it has failed.
  private func runTwice<Element>(_ stream: Observable<Element>) -> (success: [String], failure: [String]) {
    let subscriptions = [record.observe(stream)]
    feed.next(1)
    feed.complete()
    let success = record.elements
    let failing = record.observe(stream)
    feed.fail()
    for subscription in subscriptions + [failing] { subscription.dispose() }
    return (success, Array(record.elements.dropFirst(success.count)))
  }

  private let failure = [
    "onSubscribe", "onSubscribed", "onError failure", "error(failure)", "onDispose", "afterError failure",
  ]

  @Test func `the closures of do are called around the result of a single`() {
    let single = feed.stream.asSingle().do(
      onSuccess: noteValue("onSuccess"), afterSuccess: noteValue("afterSuccess"),
      onError: noteValue("onError"),
      afterError: noteValue("afterError"), onSubscribe: note("onSubscribe"),
      onSubscribed: note("onSubscribed"),
      onDispose: note("onDispose"))
    let seen = runTwice(single.asObservable())
    #expect(
      seen.success == [
        "onSubscribe", "onSubscribed", "onSuccess 1", "next(1)", "afterSuccess 1", "completed", "onDispose",
      ])
    #expect(seen.failure == failure)
  }

  @Test func `the closures of do are called around the result of a maybe`() {
    let maybe = feed.stream.asMaybe().do(
      onNext: noteValue("onNext"), afterNext: noteValue("afterNext"), onError: noteValue("onError"),
      afterError: noteValue("afterError"), onCompleted: note("onCompleted"),
      afterCompleted: note("afterCompleted"), onSubscribe: note("onSubscribe"),
      onSubscribed: note("onSubscribed"), onDispose: note("onDispose"))
    let seen = runTwice(maybe.asObservable())
    #expect(
      seen.success == [
        "onSubscribe", "onSubscribed", "onNext 1", "next(1)", "afterNext 1", "onCompleted", "completed",
        "onDispose", "afterCompleted",
      ])
    #expect(seen.failure == failure)
  }

  @Test func `the closures of do are called around the result of a completable`() {
    let completable = feed.stream.ignoreElements().asCompletable().do(
      onError: noteValue("onError"), afterError: noteValue("afterError"), onCompleted: note("onCompleted"),
      afterCompleted: note("afterCompleted"), onSubscribe: note("onSubscribe"),
      onSubscribed: note("onSubscribed"), onDispose: note("onDispose"))
    let seen = runTwice(completable.asObservable())
    #expect(
      seen.success == [
        "onSubscribe", "onSubscribed", "onCompleted", "completed", "onDispose", "afterCompleted",
      ])
    #expect(seen.failure == failure)
  }

  /// Records its disposal.
  private final class Resource: Disposable {
    private let record: Record<String>

    init(_ record: Record<String>) { self.record = record }

    func dispose() { record.append("disposed") }
  }

  @Test func `the resource of a trait is disposed of after the result, or with the subscription`() {
    let single = Single<Int>.using(
      { [record] in Resource(record) }, primitiveSequenceFactory: { [feed] _ in feed.stream.asSingle() })
    let subscription = record.observe(single.asObservable())
    feed.next(1)
    #expect(record.elements == [])
    feed.complete()
    #expect(record.elements == ["next(1)", "completed", "disposed"])
    subscription.dispose()
    record.observe(single.asObservable()).dispose()
    #expect(record.elements == ["next(1)", "completed", "disposed", "disposed"])
  }

  @Test func `a trait is tried again until it succeeds`() {
    let tries = Record<Int>()
    let failing = Observable<Int>.deferred {
      tries.append(1)
      return tries.elements.count < 20 ? .error(TestFailure()) : .just(7)
    }
    #expect(events(of: failing.asSingle().retry().asObservable()) == ["next(7)", "completed"])
    #expect(tries.elements.count == 20)
  }

  @Test func `debug of a trait prints what happens, and passes it on`() async {
    #expect(events(of: Single.just(1).debug("single").asObservable()) == ["next(1)", "completed"])
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let long = String(repeating: "b", count: 60)
      _ = events(of: Single.just(long).debug("single", trimOutput: true).asObservable())
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let trimmed = "next(bbbbbbbbbbbbbbb...bbbbbbbbbbbbbbbbbbb)"
    let lines = ["subscribed", "Event \(trimmed)", "Event completed", "isDisposed"]
    #expect(lines.allSatisfy { output.contains(": single -> \($0)\n") }, "\(output)")
  }
}
