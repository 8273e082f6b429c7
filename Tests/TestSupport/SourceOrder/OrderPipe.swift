/// A stream of texts, put together from sources and operators: one description for this package's streams and RxSwift's.
///
/// Everything in it is emitted at the subscription, so the only question is in which order.
public indirect enum OrderPipe: Sendable {
  case just(String)
  case of([String])
  case empty
  case failure
  case map(OrderPipe)
  case take(Int, OrderPipe)
  case skip(Int, OrderPipe)
  case scan(OrderPipe)
  case distinct(OrderPipe)
  case takeLast(Int, OrderPipe)
  case takeWhile(inclusive: Bool, OrderPipe)
  case takeUntilFound(inclusive: Bool, OrderPipe)
  case skipWhile(OrderPipe)
  case enumerated(OrderPipe)
  case reduce(OrderPipe)
  /// All elements as one, by way of a single.
  case collected(OrderPipe)
  case startWith([String], OrderPipe)
  /// Sends elements around the subscription to another stream.
  case create([String], OrderPipe, [String])
  case deferred(OrderPipe)
  /// Sends an element when the stream was subscribed to.
  case subscribed(OrderPipe, String)
  /// The same shared stream, merged with itself.
  case shared(replay: Int, OrderPipe)
  case merge([OrderPipe])
  case mergeOfStreams([OrderPipe], maxConcurrent: Int?)
  case concatOfStreams([OrderPipe])
  case switchOfStreams([OrderPipe])
  case concat([OrderPipe])
  case combineLatest([OrderPipe])
  case zip([OrderPipe])
  /// By the function that has a parameter for each stream: two to eight.
  case combination(OrderCombination, [OrderPipe])
  case withLatestFrom(OrderPipe, OrderPipe)
  case takeUntil(OrderPipe, OrderPipe)
  case skipUntil(OrderPipe, OrderPipe)
  case `catch`(OrderPipe, OrderPipe)
  case retry(Int, OrderPipe)
  /// As `retry`, with a stream that says when.
  case retryWhen(Int, OrderPipe)
  /// Each element of the first stream becomes the second one, whose elements begin with that element.
  case flatMap(OrderFlattening, OrderPipe, OrderPipe)
  /// Delivered by the scheduler of the current thread.
  case observeOnCurrentThread(OrderPipe)
}

public enum OrderFlattening: CaseIterable, Sendable { case all, first, latest, concat }

/// Singles and maybes are made of the streams, of which each sends its first element.
public enum OrderCombination: CaseIterable, Sendable { case latest, zip, zipOfSingles, zipOfMaybes }

// MARK: Random pipes

extension OrderPipe {
  /// Returns a random pipe; the same one for the same number.
  public static func random(seed: UInt64) -> OrderPipe {
    var generator = OrderPipeGenerator(random: SplitMix64(seed: seed))
    return generator.root()
  }

  /// Whether RxSwift's stream ends as this one does. Its `zip` goes on until all streams have completed, or one fails.
  /// So random pipes have it only outermost, and no `skip(until:)`, which differs in the same way.
  public var endsAsInRxSwift: Bool {
    switch self {
    case .zip, .combination(.zip, _), .combination(.zipOfMaybes, _): false
    default: true
    }
  }

  /// What `takeWhile` and its kin choose.
  public static func isChosen(_ element: String) -> Bool { (element.utf8.first ?? 0) % 3 != 0 }
}

private struct OrderPipeGenerator {
  var random: SplitMix64
  /// Each multiplies the elements.
  var flatMaps = 2
  private var lastName = 0

  init(random: SplitMix64) { self.random = random }

  private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private mutating func names(_ count: Int) -> [String] {
    (0..<count).map { _ in
      lastName += 1
      return "\(UnicodeScalar(UInt8(97 + lastName % 26)))"
    }
  }

  private mutating func source() -> OrderPipe {
    switch below(10) {
    case 0, 1: .just(names(1)[0])
    case 2: .empty
    case 3: .failure
    default: .of(names(below(5)))
    }
  }

  private mutating func several(_ depth: Int) -> [OrderPipe] {
    (0..<(2 + below(2))).map { _ in pipe(depth: depth) }
  }

  /// Two to eight, of which at most two are more than sources.
  private mutating func many(_ depth: Int) -> [OrderPipe] {
    var pipes = (0..<below(7)).map { _ in source() }
    for _ in 0..<2 { pipes.insert(pipe(depth: depth), at: below(pipes.count + 1)) }
    return pipes
  }

  mutating func root() -> OrderPipe {
    switch below(12) {
    case 0: .zip(several(3))
    case 1: .combination([.zip, .zipOfMaybes][below(2)], many(3))
    default: pipe(depth: 4)
    }
  }

  private mutating func pipe(depth: Int) -> OrderPipe {
    if depth == 0 { return source() }
    switch below(37) {
    case 0...2: return source()
    case 3: return .map(pipe(depth: depth - 1))
    case 4: return .take(below(5), pipe(depth: depth - 1))
    case 5: return .skip(below(3), pipe(depth: depth - 1))
    case 6: return .scan(pipe(depth: depth - 1))
    case 7: return .distinct(pipe(depth: depth - 1))
    case 8: return .startWith(names(1 + below(5)), pipe(depth: depth - 1))
    case 9: return .create(names(below(3)), pipe(depth: depth - 1), names(below(3)))
    case 10: return .deferred(pipe(depth: depth - 1))
    case 11: return .subscribed(pipe(depth: depth - 1), names(1)[0])
    case 12: return .shared(replay: below(3), pipe(depth: depth - 1))
    case 13, 14: return .merge(several(depth - 1))
    case 15: return .mergeOfStreams(several(depth - 1), maxConcurrent: [nil, 1, 2][below(3)])
    case 16: return .concat(several(depth - 1))
    case 17, 18: return .combineLatest(several(depth - 1))
    case 19: return .withLatestFrom(pipe(depth: depth - 1), pipe(depth: depth - 1))
    case 20: return .takeUntil(pipe(depth: depth - 1), pipe(depth: depth - 1))
    case 21: return .catch(pipe(depth: depth - 1), pipe(depth: depth - 1))
    case 22: return .retry(1 + below(3), pipe(depth: depth - 1))
    case 23: return .retryWhen(1 + below(3), pipe(depth: depth - 1))
    case 24: return .observeOnCurrentThread(pipe(depth: depth - 1))
    case 25: return .takeLast(below(4), pipe(depth: depth - 1))
    case 26: return .takeWhile(inclusive: below(2) == 0, pipe(depth: depth - 1))
    case 27: return .takeUntilFound(inclusive: below(2) == 0, pipe(depth: depth - 1))
    case 28: return .skipWhile(pipe(depth: depth - 1))
    case 29: return .enumerated(pipe(depth: depth - 1))
    case 30: return .reduce(pipe(depth: depth - 1))
    case 31: return .collected(pipe(depth: depth - 1))
    case 32: return .concatOfStreams(several(depth - 1))
    case 33: return .switchOfStreams(several(depth - 1))
    case 34: return .combination([.latest, .zipOfSingles][below(2)], many(min(depth - 1, 2)))
    default:
      if flatMaps == 0 { return .merge(several(depth - 1)) }
      flatMaps -= 1
      let flattening = OrderFlattening.allCases[below(4)]
      return .flatMap(flattening, pipe(depth: depth - 1), pipe(depth: min(depth - 1, 2)))
    }
  }
}
