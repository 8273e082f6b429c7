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
  case concat([OrderPipe])
  case combineLatest([OrderPipe])
  case zip([OrderPipe])
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

// MARK: Random pipes

extension OrderPipe {
  /// Returns a random pipe; the same one for the same number.
  public static func random(seed: UInt64) -> OrderPipe {
    var generator = OrderPipeGenerator(random: SplitMix64(seed: seed))
    return generator.root()
  }

  /// Whether RxSwift's stream ends as this one does. Its `zip` goes on until all streams have completed, or one fails.
  /// So random pipes have it only outermost, and no `skip(until:)`, which differs in the same way.
  public var endsAsInRxSwift: Bool { if case .zip = self { false } else { true } }
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

  mutating func root() -> OrderPipe {
    switch below(12) {
    case 0: .zip(several(3))
    default: pipe(depth: 4)
    }
  }

  private mutating func pipe(depth: Int) -> OrderPipe {
    if depth == 0 { return source() }
    switch below(28) {
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
    default:
      if flatMaps == 0 { return .merge(several(depth - 1)) }
      flatMaps -= 1
      let flattening = OrderFlattening.allCases[below(4)]
      return .flatMap(flattening, pipe(depth: depth - 1), pipe(depth: min(depth - 1, 2)))
    }
  }
}
