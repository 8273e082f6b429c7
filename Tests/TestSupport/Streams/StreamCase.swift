import ReactorRuntime

/// A kind of stream that must keep the grammar of events and leak nothing, whatever its sources do: a row of
/// the tables that the tests of these properties go through.
///
/// To add rows, write another table and add it to ``all``.
public struct StreamCase: Sendable, CustomStringConvertible {
  public typealias Element = LifetimeTracked

  /// The parts that a row is made of.
  public struct Sources: Sendable {
    public let feeds: [Feed<Element>]
    /// Closures capture this, so that a closure that leaks is noticed.
    public let captured: LifetimeTracked

    public init(_ lifetimes: Lifetimes) {
      feeds = (0..<3).map { _ in Feed() }
      captured = lifetimes.track()
    }

    public var first: Observable<Element> { feeds[0].stream }
    public var second: Observable<Element> { feeds[1].stream }
    public var third: Observable<Element> { feeds[2].stream }
  }

  public let name: String
  public let make: @Sendable (Sources) -> Observable<Element>

  public init(_ name: String, _ make: @escaping @Sendable (Sources) -> Observable<Element>) {
    self.name = name
    self.make = make
  }

  public var description: String { name }

  public static let all = sources + ofOneStream + inSequence + ofSeveralStreams + traits + further
}

extension StreamCase {
  static let sources: [StreamCase] = [
    StreamCase("create") { $0.first },
    StreamCase("create, observers called by two streams") { sources in
      .create { Disposables.create(sources.first.subscribe($0), sources.second.subscribe($0)) }
    },
    StreamCase("subscribe") { sources in .create { sources.first.subscribe($0) } },
    StreamCase("deferred") { sources in .deferred { sources.first } },
    StreamCase("never") { _ in .never() },
    StreamCase("error") { _ in .error(TestFailure()) },
    StreamCase("just") { .just($0.captured) },
    StreamCase("of") { .of($0.captured, $0.captured, $0.captured) },
    StreamCase("from") { .from(Array(repeating: $0.captured, count: 9)) },
  ]

  static let ofOneStream: [StreamCase] = [
    StreamCase("map") { sources in sources.first.map { keeping(sources, $0) } },
    StreamCase("map that throws") { sources in sources.first.map { try throwing(sources, $0) } },
    StreamCase("compactMap") { sources in sources.first.compactMap { chosen(sources, $0) ? $0 : nil } },
    StreamCase("filter") { sources in sources.first.filter { chosen(sources, $0) } },
    StreamCase("ignoreElements") { $0.first.take(until: $0.second.ignoreElements()) },
    StreamCase("scan") { sources in
      sources.first.scan(sources.captured) { $1.value.isMultiple(of: 2) ? $1 : $0 }
    },
    StreamCase("scan(into:)") { sources in sources.first.scan(into: sources.captured) { $0 = $1 } },
    StreamCase("distinctUntilChanged") { $0.first.distinctUntilChanged(\.value) },
    StreamCase("do") { sources in
      sources.first.do(
        onNext: { _ = try throwing(sources, $0) }, afterNext: { _ = keeping(sources, $0) },
        onSubscribed: { _ = sources.captured }, onDispose: { _ = sources.captured })
    },
    StreamCase("take") { $0.first.take(5) },
    StreamCase("take(while:)") { sources in
      sources.first.take(while: { chosen(sources, $0) }, behavior: .inclusive)
    },
    StreamCase("take(until: predicate)") { sources in sources.first.take(until: { chosen(sources, $0) }) },
    StreamCase("skip") { $0.first.skip(5) },
    StreamCase("skip(while:)") { sources in sources.first.skip(while: { chosen(sources, $0) }) },
    StreamCase("chain") { sources in
      sources.first.map { keeping(sources, $0) }.filter { chosen(sources, $0) }.startWith(sources.captured)
        .distinctUntilChanged(at: \.value).take(20)
    },
  ]

  static let inSequence: [StreamCase] = [
    StreamCase("startWith") { $0.first.startWith($0.captured, $0.captured) },
    StreamCase("concat") { .concat($0.first.take(3), .just($0.captured), $0.second, $0.third) },
    StreamCase("concat of the same stream") { $0.first.take(2).concat($0.first.take(2)).concat($0.first) },
    StreamCase("catch") { sources in
      sources.first.catch { _ in sources.second.map { keeping(sources, $0) } }
    },
    StreamCase("catch that throws") { sources in
      sources.first.catch { error in
        _ = sources.captured
        throw error
      }
    },
    StreamCase("catchAndReturn") { $0.first.catchAndReturn($0.captured) },
    StreamCase("retry") { $0.first.retry() },
    StreamCase("retry(3)") { sources in sources.first.map { try throwing(sources, $0) }.retry(3) },
  ]

  static let ofSeveralStreams: [StreamCase] = [
    StreamCase("merge") { .merge($0.first, $0.second, .just($0.captured), $0.third) },
    StreamCase("merge of streams of streams") { sources in
      sources.first.map { _ in sources.second.take(3) }.merge()
    },
    StreamCase("flatMap") { sources in
      sources.first.flatMap { $0.value.isMultiple(of: 3) ? .just($0) : sources.second.take(3) }
    },
    StreamCase("flatMap that throws") { sources in
      sources.first.flatMap { element in
        _ = try throwing(sources, element)
        return sources.second
      }
    },
    StreamCase("flatMapFirst") { sources in sources.first.flatMapFirst { _ in sources.second.take(3) } },
    StreamCase("flatMapLatest") { sources in
      sources.first.flatMapLatest {
        $0.value.isMultiple(of: 2) ? sources.second : sources.third.startWith($0)
      }
    },
    StreamCase("flatMapLatest that throws") { sources in
      sources.first.flatMapLatest { element in
        _ = try throwing(sources, element)
        return sources.second
      }
    },
    StreamCase("switchLatest") { sources in
      sources.first.map { _ in sources.second.take(3) }.switchLatest()
    },
    StreamCase("combineLatest of 2") { sources in
      .combineLatest(sources.first, sources.second) { chosen(sources, $0) ? $0 : $1 }
    },
    StreamCase("combineLatest of 3") { sources in
      Observable.combineLatest(sources.first, sources.second, sources.third).map { $0.1 }
    },
    StreamCase("combineLatest of 4") { sources in
      .combineLatest(sources.first, sources.second, sources.third, sources.first) {
        try throwing(sources, $3, $0)
      }
    },
    StreamCase("combineLatest of a list") { sources in
      .combineLatest([sources.first, sources.second, sources.third]) { $0[1] }
    },
    StreamCase("withLatestFrom") { sources in
      sources.first.withLatestFrom(sources.second) { keeping(sources, $1.value > 5 ? $0 : $1) }
    },
    StreamCase("take(until:)") { $0.first.take(until: $0.second) },
    StreamCase("take(until:) of itself") { sources in
      sources.first.take(until: sources.first.filter { chosen(sources, $0) })
    },
    StreamCase("skip(until:)") { $0.first.skip(until: $0.second) },
  ]

  // The bodies of the rows' closures. All of them capture an object that must be released.

  static func keeping(_ sources: Sources, _ element: Element) -> Element {
    withExtendedLifetime(sources.captured) { element }
  }

  static func chosen(_ sources: Sources, _ element: Element) -> Bool {
    withExtendedLifetime(sources.captured) { !element.value.isMultiple(of: 7) }
  }

  static func throwing(_ sources: Sources, _ element: Element, _ other: Element? = nil) throws -> Element {
    if element.value % 50 == 49 { throw TestFailure("from a closure") }
    return keeping(sources, other ?? element)
  }
}
