import ReactorRuntime
import ReactorTesting
import TestSupport

/// Makes streams of this package from pipes.
struct ObservableMaker: Sendable {
  typealias Element = LifetimeTracked

  let subjects: [any StreamSubject]
  let scheduler: TestScheduler
  let lifetimes: Lifetimes

  func stream(_ pipe: Pipe) -> Observable<Element> {
    switch pipe {
    case .subject(let number): subjects[number].asObservable()
    case .known(let count): known(count)
    case .never: .never()
    case .failure: .error(TestFailure())
    case .ticks(let count, let period):
      Observable<Int>.interval(.seconds(period), scheduler: scheduler).take(count)
        .map { [lifetimes] in lifetimes.track($0) }
    case .one(let kind, let source): apply(kind, to: stream(source))
    case .two(let kind, let first, let second): combine(kind, stream(first), stream(second))
    }
  }

  private func known(_ count: Int) -> Observable<Element> {
    let elements = (0..<count).map { lifetimes.track($0) }
    switch count {
    case 0: return .empty()
    case 1: return .just(elements[0])
    case 2: return .of(elements[0], elements[1])
    default: return .from(elements)
    }
  }

  private func apply(_ kind: OneStreamOperator, to source: Observable<Element>) -> Observable<Element> {
    let lifetimes = lifetimes
    return switch kind {
    case .map: source.map { lifetimes.track(PipeFunction.map($0.value)) }
    case .mapThrowing: source.map { try Self.checked($0) }
    case .filter: source.filter { PipeFunction.isChosen($0.value) }
    case .compactMap: source.compactMap { PipeFunction.isChosen($0.value) ? $0 : nil }
    case .scan: source.scan(lifetimes.track()) { lifetimes.track(PipeFunction.combine($0.value, $1.value)) }
    case .scanInto:
      source.scan(into: lifetimes.track()) { $0 = lifetimes.track(PipeFunction.combine($0.value, $1.value)) }
    case .distinct: source.distinctUntilChanged { $0.value }
    case .doThrowing: source.do(onNext: { _ = try Self.checked($0) })
    case .catchAndReturn: source.catchAndReturn(lifetimes.track(1))
    case .take(let count): source.take(count)
    case .takeWhile(let isInclusive):
      source.take(while: { PipeFunction.isChosen($0.value) }, behavior: isInclusive ? .inclusive : .exclusive)
    case .takeUntilFound(let isInclusive):
      source.take(
        until: { !PipeFunction.isChosen($0.value) }, behavior: isInclusive ? .inclusive : .exclusive)
    case .skip(let count): source.skip(count)
    case .skipWhile: source.skip(while: { PipeFunction.isChosen($0.value) })
    case .startWith(let count):
      (0..<count).reversed().reduce(source) { $0.startWith(lifetimes.track($1)) }
    case .retry(let count): source.retry(count)
    case .retryWhen(let count): Self.retryWhen(source, count)
    case .reduce:
      source.reduce(lifetimes.track()) { lifetimes.track(PipeFunction.combine($0.value, $1.value)) }
    case .takeLast(let count): source.takeLast(count)
    case .enumerated:
      source.enumerated().map { lifetimes.track(PipeFunction.combine($0.index, $0.element.value)) }
    case .share(let count, let isForever):
      source.share(replay: count, scope: isForever ? .forever : .whileConnected)
    case .delay(let time): source.delay(.seconds(time), scheduler: scheduler)
    case .delaySubscription(let time): source.delaySubscription(.seconds(time), scheduler: scheduler)
    case .debounce(let time): source.debounce(.seconds(time), scheduler: scheduler)
    case .throttle(let time, let latest):
      source.throttle(.seconds(time), latest: latest, scheduler: scheduler)
    case .timeout(let time):
      source.timeout(.seconds(time), other: Observable.just(lifetimes.track(2)), scheduler: scheduler)
    }
  }

  private func combine(
    _ kind: TwoStreamOperator, _ first: Observable<Element>, _ second: Observable<Element>
  ) -> Observable<Element> {
    let lifetimes = lifetimes
    let together: @Sendable (Element, Element) -> Element = {
      lifetimes.track(PipeFunction.combine($0.value, $1.value))
    }
    let select: @Sendable (Element) throws -> Observable<Element> = { try Self.inner(of: $0, second) }
    return switch kind {
    case .merge: .merge(first, second)
    case .concat: first.concat(second)
    case .combineLatest: .combineLatest(first, second, resultSelector: together)
    case .combineLatestOfAList: .combineLatest([first, second]) { together($0[0], $0[1]) }
    case .withLatestFrom: first.withLatestFrom(second, resultSelector: together)
    case .takeUntil: first.take(until: second)
    case .skipUntil: first.skip(until: second)
    case .catch: first.catch { _ in second }
    case .flatMap: first.flatMap(select)
    case .flatMapFirst: first.flatMapFirst(select)
    case .flatMapLatest: first.flatMapLatest(select)
    case .concatMap: first.concatMap(select)
    case .mergeTwo: first.map(select).merge(maxConcurrent: 2)
    case .zip: .zip(first, second, resultSelector: together)
    case .zipOfAList: .zip([first, second]) { together($0[0], $0[1]) }
    case .concatOfStreams: Observable.of(first, second).concat()
    case .switchOfStreams: Observable.of(first, second).switchLatest()
    }
  }

  private static func retryWhen(_ source: Observable<Element>, _ count: Int) -> Observable<Element> {
    source.retry(when: { (errors: Observable<any Error>) in
      errors.enumerated().map { index, error in
        if index + 1 == count { throw error }
      }
    })
  }

  private static func checked(_ element: Element) throws -> Element {
    if PipeFunction.fails(element.value) { throw TestFailure() }
    return element
  }

  private static func inner(of element: Element, _ second: Observable<Element>) throws -> Observable<Element>
  {
    switch PipeFunction.inner(element.value) {
    case .second: return second
    case .same: return .just(element)
    case .nothing: return .empty()
    case .failure: return .error(TestFailure())
    case .thrown: throw TestFailure()
    }
  }
}

/// A subject of any kind.
protocol StreamSubject: ObservableType, ObserverType where Element == LifetimeTracked {
  var hasObservers: Bool { get }
}

extension PublishSubject: StreamSubject where Element == LifetimeTracked {}
extension BehaviorSubject: StreamSubject where Element == LifetimeTracked {}
extension ReplaySubject: StreamSubject where Element == LifetimeTracked {}
