#if RxSwift
  import RxSwift
  import TestSupport

  /// The pipe made of streams of RxSwift.
  extension OrderPipe {
    /// Returns the events that a subscription receives before it returns.
    var rxEvents: [String] {
      let record = Record<String>()
      let subscription = rxStream.subscribe { event in
        switch event {
        case .next(let element): record.append(element)
        case .error: record.append("error")
        case .completed: record.append("completed")
        }
      }
      subscription.dispose()
      return record.elements
    }

    var rxStream: RxSwift.Observable<String> {
      switch self {
      case .just(let element): .just(element)
      case .of(let elements): Self.known(elements)
      case .empty: .empty()
      case .failure: .error(OrderFailure())
      case .map(let source): source.rxStream.map { $0 + "'" }
      case .take(let count, let source): source.rxStream.take(count)
      case .skip(let count, let source): source.rxStream.skip(count)
      case .scan(let source): source.rxStream.scan("") { String(($0 + $1).suffix(6)) }
      case .distinct(let source): source.rxStream.distinctUntilChanged()
      case .takeLast(let count, let source): source.rxStream.takeLast(count)
      case .takeWhile(let isInclusive, let source):
        source.rxStream.take(while: Self.isChosen, behavior: isInclusive ? .inclusive : .exclusive)
      case .takeUntilFound(let isInclusive, let source):
        source.rxStream.take(until: { !Self.isChosen($0) }, behavior: isInclusive ? .inclusive : .exclusive)
      case .skipWhile(let source): source.rxStream.skip(while: Self.isChosen)
      case .enumerated(let source): source.rxStream.enumerated().map { "\($0.index)\($0.element)" }
      case .reduce(let source): source.rxStream.reduce("") { String(($0 + $1).suffix(6)) }
      case .collected(let source): source.rxStream.toArray().map { $0.joined() }.asObservable()
      case .startWith(let elements, let source): Self.starting(elements, source.rxStream)
      case .create(let before, let source, let after): Self.around(before, source.rxStream, after)
      case .deferred(let source): .deferred { source.rxStream }
      case .subscribed(let source, let element): Self.subscribed(source.rxStream, element)
      case .shared(let count, let source): Self.shared(source.rxStream, count)
      case .merge(let sources): .merge(sources.map(\.rxStream))
      case .mergeOfStreams(let sources, let limit): Self.mergeOfStreams(sources.map(\.rxStream), limit)
      case .concatOfStreams(let sources): RxSwift.Observable.from(sources.map(\.rxStream)).concat()
      case .switchOfStreams(let sources): RxSwift.Observable.from(sources.map(\.rxStream)).switchLatest()
      case .concat(let sources): .concat(sources.map(\.rxStream))
      case .combineLatest(let sources): Self.combineLatest(sources.map(\.rxStream))
      case .zip(let sources): Self.zip(sources.map(\.rxStream))
      case .combination(let kind, let sources): Self.combination(kind, sources.map(\.rxStream))
      case .withLatestFrom(let source, let other): source.rxStream.withLatestFrom(other.rxStream) { $0 + $1 }
      case .takeUntil(let source, let other): source.rxStream.take(until: other.rxStream)
      case .skipUntil(let source, let other): source.rxStream.skip(until: other.rxStream)
      case .catch(let source, let other): source.rxStream.catch { _ in other.rxStream }
      case .retry(let count, let source): source.rxStream.retry(count)
      case .retryWhen(let count, let source): Self.retryWhen(source.rxStream, count)
      case .flatMap(let flattening, let source, let inner): Self.flatMap(flattening, source.rxStream, inner)
      case .observeOnCurrentThread(let source):
        source.rxStream.observe(on: RxSwift.CurrentThreadScheduler.instance)
      }
    }

    private static func known(_ elements: [String]) -> RxSwift.Observable<String> {
      switch elements.count {
      case 1: .of(elements[0])
      case 2: .of(elements[0], elements[1])
      case 3: .of(elements[0], elements[1], elements[2])
      case 4: .of(elements[0], elements[1], elements[2], elements[3])
      default: .from(elements)
      }
    }

    private static func starting(_ elements: [String], _ source: RxSwift.Observable<String>)
      -> RxSwift.Observable<String>
    {
      switch elements.count {
      case 1: source.startWith(elements[0])
      case 2: source.startWith(elements[0], elements[1])
      default: elements.reversed().reduce(source) { $0.startWith($1) }
      }
    }

    private static func around(
      _ before: [String], _ source: RxSwift.Observable<String>, _ after: [String]
    ) -> RxSwift.Observable<String> {
      .create { observer in
        for element in before { observer.onNext(element) }
        let subscription = source.subscribe(observer)
        for element in after { observer.onNext(element) }
        return subscription
      }
    }

    private static func subscribed(_ source: RxSwift.Observable<String>, _ element: String)
      -> RxSwift.Observable<String>
    {
      .deferred {
        let subject = RxSwift.PublishSubject<String>()
        return .merge(
          subject.asObservable(),
          source.do(
            onSubscribed: {
              subject.onNext(element)
              subject.onCompleted()
            }))
      }
    }

    private static func shared(_ source: RxSwift.Observable<String>, _ count: Int)
      -> RxSwift.Observable<String>
    {
      let shared = source.share(replay: count)
      return .merge(shared, shared.map { $0 + "+" })
    }

    private static func mergeOfStreams(_ sources: [RxSwift.Observable<String>], _ limit: Int?)
      -> RxSwift.Observable<String>
    {
      let streams = RxSwift.Observable.from(sources)
      return if let limit { streams.merge(maxConcurrent: limit) } else { streams.merge() }
    }

    private static func combineLatest(_ sources: [RxSwift.Observable<String>]) -> RxSwift.Observable<String> {
      switch sources.count {
      case 2: .combineLatest(sources[0], sources[1]) { $0 + $1 }
      default: .combineLatest(sources) { $0.joined() }
      }
    }

    private static func zip(_ sources: [RxSwift.Observable<String>]) -> RxSwift.Observable<String> {
      switch sources.count {
      case 2: .zip(sources[0], sources[1]) { $0 + $1 }
      default: .zip(sources) { $0.joined() }
      }
    }

    private static func retryWhen(_ source: RxSwift.Observable<String>, _ count: Int)
      -> RxSwift.Observable<String>
    {
      source.retry(when: { (errors: RxSwift.Observable<any Error>) in
        errors.enumerated().flatMap { index, error in
          index + 1 < count ? RxSwift.Observable.of("again") : RxSwift.Observable.error(error)
        }
      })
    }

    private static func flatMap(
      _ flattening: OrderFlattening, _ source: RxSwift.Observable<String>, _ inner: OrderPipe
    ) -> RxSwift.Observable<String> {
      let selector = { (element: String) in inner.rxStream.map { element + $0 } }
      return switch flattening {
      case .all: source.flatMap(selector)
      case .first: source.flatMapFirst(selector)
      case .latest: source.flatMapLatest(selector)
      case .concat: source.concatMap(selector)
      }
    }
  }
#endif
