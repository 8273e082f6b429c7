import ReactorRuntime

extension StreamCase {
  /// Streams of at most one element, and the operators that lead to them.
  static let traits: [StreamCase] = [
    StreamCase("Single.create") { sources in
      Single<Element>.create { single in
        sources.first.subscribe { event in
          if let element = event.element { single(.success(element)) }
          if let error = event.error { single(.failure(error)) }
        }
      }.asObservable()
    },
    StreamCase("Maybe.create") { sources in
      Maybe<Element>.create { maybe in
        sources.first.subscribe { event in
          switch event {
          case .next(let element): maybe(.success(element))
          case .error(let error): maybe(.error(error))
          case .completed: maybe(.completed)
          }
        }
      }.do(onNext: { _ = keeping(sources, $0) }).asObservable()
    },
    StreamCase("asSingle") { $0.first.take(1).asSingle().asObservable() },
    StreamCase("asMaybe") { $0.first.asMaybe().asObservable() },
    StreamCase("first") { $0.first.first().asObservable().filterNil() },
    StreamCase("ifEmpty") { sources in
      sources.first.take(1).filter { chosen(sources, $0) }.asMaybe()
        .ifEmpty(switchTo: sources.second.first().map { $0 ?? sources.captured }).asObservable()
    },
    StreamCase("andThen") { $0.first.ignoreElements().asCompletable().andThen($0.second) },
    StreamCase("toArray") { $0.first.toArray().asObservable().compactMap(\.last) },
  ]

  static let further: [StreamCase] = [
    StreamCase("from a sequence") { sources in
      Observable.from(repeatElement(sources.captured, count: 9))
    },
    StreamCase("using") { sources in
      Observable.using({ Resource(sources.captured) }) { resource in
        sources.first.map { element in withExtendedLifetime(resource) { element } }
      }
    },
    StreamCase("reduce") { sources in sources.first.reduce(sources.captured) { $0.value > $1.value ? $0 : $1 }
    },
    StreamCase("takeLast") { $0.first.takeLast(3) },
    StreamCase("enumerated") { $0.first.enumerated().map(\.element) },
    StreamCase("withUnretained") { sources in
      sources.first.withUnretained(sources.captured) { $0.value > $1.value ? $0 : $1 }
    },
    StreamCase("zip of 2") { sources in
      .zip(sources.first, sources.second) { chosen(sources, $0) ? $0 : $1 }
    },
    StreamCase("zip of 3") { sources in
      .zip(sources.first, sources.second, sources.third) { a, b, _ in try throwing(sources, a, b) }
    },
    StreamCase("zip of 4") { sources in
      Observable.zip(sources.first, sources.second, sources.third, sources.first).map(\.2)
    },
    StreamCase("zip of a list") { .zip([$0.first, $0.second, $0.third]) { $0[1] } },
    StreamCase("combineLatest of 5") { sources in
      .combineLatest(sources.first, sources.second, sources.third, sources.first, sources.second) {
        a, _, _, _, e in a.value > e.value ? a : e
      }
    },
    StreamCase("combineLatest of 8") { sources in
      let (a, b, c) = (sources.first, sources.second, sources.third)
      return Observable.combineLatest(a, b, c, a, b, c, a, b).map(\.7)
    },
    StreamCase("merge(maxConcurrent:)") { sources in
      sources.first.map { $0.value.isMultiple(of: 3) ? .just($0) : sources.second.take(2) }
        .merge(maxConcurrent: 2)
    },
    StreamCase("concat of streams") { sources in
      sources.first.map { _ in sources.second.take(2) }.concat()
    },
    StreamCase("concatMap") { sources in
      sources.first.concatMap { element in
        _ = try throwing(sources, element)
        return sources.second.take(2)
      }
    },
    StreamCase("retry(when:)") { sources in
      sources.first.map { try throwing(sources, $0) }
        .retry(when: { $0.flatMap { _ in sources.second.take(1) } })
    },
    StreamCase("retry(when:) at once") { sources in
      sources.first.map { try throwing(sources, $0) }.retry(when: { $0.take(2) })
    },
  ]
}

/// A resource that holds an object until it is disposed of.
private final class Resource: Disposable {
  private let held: CompositeDisposable

  init(_ object: LifetimeTracked) {
    held = CompositeDisposable([Disposables.create { withExtendedLifetime(object) {} }])
  }

  func dispose() { held.dispose() }
}
