import ReactorCore
import ReactorRuntime

/// The pipe made of this package's streams.
extension OrderPipe {
  /// Returns the events that a subscription receives before it returns.
  public var events: [String] {
    let record = Record<String>()
    let subscription = stream.subscribe { event in
      switch event {
      case .next(let element): record.append(element)
      case .error: record.append("error")
      case .completed: record.append("completed")
      }
    }
    subscription.dispose()
    return record.elements
  }

  public var stream: Observable<String> {
    switch self {
    case .just(let element): .just(element)
    case .of(let elements): Self.known(elements)
    case .empty: .empty()
    case .failure: .error(OrderFailure())
    case .map(let source): source.stream.map { $0 + "'" }
    case .take(let count, let source): source.stream.take(count)
    case .skip(let count, let source): source.stream.skip(count)
    case .scan(let source): source.stream.scan("") { String(($0 + $1).suffix(6)) }
    case .distinct(let source): source.stream.distinctUntilChanged()
    case .takeLast(let count, let source): source.stream.takeLast(count)
    case .takeWhile(let isInclusive, let source):
      source.stream.take(while: Self.isChosen, behavior: isInclusive ? .inclusive : .exclusive)
    case .takeUntilFound(let isInclusive, let source):
      source.stream.take(until: { !Self.isChosen($0) }, behavior: isInclusive ? .inclusive : .exclusive)
    case .skipWhile(let source): source.stream.skip(while: Self.isChosen)
    case .enumerated(let source): source.stream.enumerated().map { "\($0.index)\($0.element)" }
    case .reduce(let source): source.stream.reduce("") { String(($0 + $1).suffix(6)) }
    case .collected(let source): source.stream.toArray().map { $0.joined() }.asObservable()
    case .startWith(let elements, let source): Self.starting(elements, source.stream)
    case .create(let before, let source, let after): Self.around(before, source.stream, after)
    case .deferred(let source): .deferred { source.stream }
    case .subscribed(let source, let element): Self.subscribed(source.stream, element)
    case .shared(let count, let source): Self.shared(source.stream, count)
    case .merge(let sources): .merge(sources.map(\.stream))
    case .mergeOfStreams(let sources, let limit): Self.mergeOfStreams(sources.map(\.stream), limit)
    case .concatOfStreams(let sources): Observable.from(sources.map(\.stream)).concat()
    case .switchOfStreams(let sources): Observable.from(sources.map(\.stream)).switchLatest()
    case .concat(let sources): .concat(sources.map(\.stream))
    case .combineLatest(let sources): Self.combineLatest(sources.map(\.stream))
    case .zip(let sources): Self.zip(sources.map(\.stream))
    case .combination(let kind, let sources): Self.combination(kind, sources.map(\.stream))
    case .withLatestFrom(let source, let other): source.stream.withLatestFrom(other.stream) { $0 + $1 }
    case .takeUntil(let source, let other): source.stream.take(until: other.stream)
    case .skipUntil(let source, let other): source.stream.skip(until: other.stream)
    case .catch(let source, let other): source.stream.catch { _ in other.stream }
    case .retry(let count, let source): source.stream.retry(count)
    case .retryWhen(let count, let source): Self.retryWhen(source.stream, count)
    case .flatMap(let flattening, let source, let inner): Self.flatMap(flattening, source.stream, inner)
    case .observeOnCurrentThread(let source):
      source.stream.observe(on: CurrentThreadScheduler.instance)
    }
  }

  private static func known(_ elements: [String]) -> Observable<String> {
    switch elements.count {
    case 1: .of(elements[0])
    case 2: .of(elements[0], elements[1])
    case 3: .of(elements[0], elements[1], elements[2])
    case 4: .of(elements[0], elements[1], elements[2], elements[3])
    default: .from(elements)
    }
  }

  private static func starting(_ elements: [String], _ source: Observable<String>) -> Observable<String> {
    switch elements.count {
    case 1: source.startWith(elements[0])
    case 2: source.startWith(elements[0], elements[1])
    default: elements.reversed().reduce(source) { $0.startWith($1) }
    }
  }

  private static func around(
    _ before: [String], _ source: Observable<String>, _ after: [String]
  ) -> Observable<String> {
    .create { observer in
      for element in before { observer.onNext(element) }
      let subscription = source.subscribe(observer)
      for element in after { observer.onNext(element) }
      return subscription
    }
  }

  private static func subscribed(_ source: Observable<String>, _ element: String) -> Observable<String> {
    .deferred {
      let subject = PublishSubject<String>()
      return .merge(
        subject.asObservable(),
        source.do(
          onSubscribed: {
            subject.onNext(element)
            subject.onCompleted()
          }))
    }
  }

  private static func shared(_ source: Observable<String>, _ count: Int) -> Observable<String> {
    let shared = source.share(replay: count)
    return .merge(shared, shared.map { $0 + "+" })
  }

  private static func mergeOfStreams(_ sources: [Observable<String>], _ limit: Int?) -> Observable<String> {
    let streams = Observable.from(sources)
    return if let limit { streams.merge(maxConcurrent: limit) } else { streams.merge() }
  }

  private static func combineLatest(_ sources: [Observable<String>]) -> Observable<String> {
    switch sources.count {
    case 2: .combineLatest(sources[0], sources[1]) { $0 + $1 }
    default: .combineLatest(sources) { $0.joined() }
    }
  }

  private static func zip(_ sources: [Observable<String>]) -> Observable<String> {
    switch sources.count {
    case 2: .zip(sources[0], sources[1]) { $0 + $1 }
    default: .zip(sources) { $0.joined() }
    }
  }

  private static func retryWhen(_ source: Observable<String>, _ count: Int) -> Observable<String> {
    source.retry(when: { (errors: Observable<any Error>) in
      errors.enumerated().flatMap { index, error in
        index + 1 < count ? Observable.of("again") : Observable.error(error)
      }
    })
  }

  private static func flatMap(
    _ flattening: OrderFlattening, _ source: Observable<String>, _ inner: OrderPipe
  ) -> Observable<String> {
    let selector = { @Sendable (element: String) in inner.stream.map { element + $0 } }
    return switch flattening {
    case .all: source.flatMap(selector)
    case .first: source.flatMapFirst(selector)
    case .latest: source.flatMapLatest(selector)
    case .concat: source.concatMap(selector)
    }
  }
}

public struct OrderFailure: Error {
  public init() {}
}
