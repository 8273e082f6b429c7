import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// Operators over a source that goes on after its end: it ignores the disposal and breaks the grammar of
/// events.
@Suite struct DeafSourceTests {
  typealias Build = @Sendable (Observable<Int>, @escaping @Sendable (Int) -> Int) -> Observable<Int>

  /// Operators that pass everything on, and call a closure for each element.
  private static let builders: [(String, Build)] = [
    ("map", { $0.map($1) }),
    ("compactMap", { source, note in source.compactMap { note($0) } }),
    ("filter", { source, note in source.filter { note($0) == $0 } }),
    ("scan", { source, note in source.scan(0) { note($1) + $0 - $0 } }),
    ("scan(into:)", { source, note in source.scan(into: 0) { $0 = note($1) } }),
    ("distinctUntilChanged", { source, note in source.distinctUntilChanged { note($0) } }),
    ("do", { source, note in source.do(onNext: { _ = note($0) }) }),
    ("take(while:)", { source, note in source.take(while: { note($0) == $0 }) }),
    ("skip(while:)", { source, _ in source.skip(while: { _ in false }) }),
    ("take", { source, _ in source.take(100) }),
    ("catch", { source, _ in source.catch { .error($0) } }),
    ("concat", { source, _ in source.concat(Observable<Int>.error(TestFailure())) }),
    ("merge", { source, note in Observable.merge(source, .never()) }),
    ("flatMap", { source, note in source.flatMap { Observable.just(note($0)) } }),
    ("flatMapFirst", { source, note in source.flatMapFirst { Observable.just(note($0)) } }),
    ("flatMapLatest", { source, note in source.flatMapLatest { Observable.just(note($0)) } }),
    ("combineLatest", { source, note in .combineLatest(source, Observable.just(0)) { note($0) + $1 } }),
    ("combineLatest of a list", { source, note in .combineLatest([source]) { note($0[0]) } }),
    ("withLatestFrom", { source, note in source.withLatestFrom(Observable.just(0)) { note($0) + $1 } }),
    ("take(until:)", { source, _ in source.take(until: Observable<Int>.never()) }),
    ("skip(until:)", { source, _ in source.skip(until: Observable.just(0)) }),
    ("create", { source, _ in .create { source.run($0) } }),
    ("subscribe", { source, _ in Observable { source.subscribe($0) } }),
  ]

  private let observers = Record<AnyObserver<Int>>()
  private let disposals = Record<Int>()
  private let noted = Record<Int>()
  private let record = Record<String>()

  /// Subscribes as an operator does, without the sink that `subscribe` puts before the observer.
  private func run(_ index: Int) -> (source: AnyObserver<Int>, subscription: any Disposable) {
    let source = Observable<Int> { [observers, disposals] observer in
      observers.append(observer)
      return Disposables.create { disposals.append(1) }
    }
    let stream = Self.builders[index].1(source) { [noted] in
      noted.append($0)
      return $0
    }
    let subscription = EmissionQueue.join { stream.run(AnyObserver { [record] in record.append("\($0)") }) }
    return (observers.elements[0], subscription)
  }

  @Test(arguments: builders.indices)
  func `nothing is delivered after the disposal`(index: Int) {
    let (source, subscription) = run(index)
    source.onNext(1)
    subscription.dispose()
    source.onNext(2)
    source.onError(TestFailure())
    source.onCompleted()
    #expect(record.elements == ["next(1)"], "\(Self.builders[index].0)")
    #expect(noted.elements == [] || noted.elements == [1], "\(Self.builders[index].0)")
    #expect(disposals.elements.count == 1, "\(Self.builders[index].0)")
    #expect(observers.elements.count == 1, "\(Self.builders[index].0)")
  }

  @Test(arguments: builders.indices)
  func `nothing is delivered after a stop event, and the source is disposed of`(index: Int) {
    let (source, _) = run(index)
    source.onNext(1)
    source.onError(TestFailure())
    #expect(disposals.elements.count == 1, "\(Self.builders[index].0)")
    source.onNext(2)
    source.onError(TestFailure())
    source.onCompleted()
    #expect(record.elements == ["next(1)", "error(failure)"], "\(Self.builders[index].0)")
    #expect(noted.elements == [] || noted.elements == [1], "\(Self.builders[index].0)")
  }

  @Test func `an operator that waits for the end stops at its own failure`() {
    let (called, observers) = (Record<Int>(), Record<AnyObserver<Int>>())
    let source = Observable<Int> { observer in
      observers.append(observer)
      return Disposables.create()
    }
    let sum = source.reduce(0) { sum, element in
      called.append(element)
      if element == 2 { throw TestFailure() }
      return sum + element
    }
    let failures = Record<String>()
    _ = sum.subscribe(onError: { failures.append("\($0)") })
    for element in 1...4 { observers.elements[0].onNext(element) }
    #expect(called.elements == [1, 2])
    #expect(failures.elements.count == 1)
  }
}
