/// A stream, and the events that RxSwift 6.10.2 delivers of it.
public struct OrderCase: Sendable {
  public let pipe: OrderPipe
  public let events: String

  init(_ pipe: OrderPipe, _ events: String) {
    self.pipe = pipe
    self.events = events
  }

  public static let all: [OrderCase] = [
    // Which streams take turns.
    OrderCase(.merge([.of(["a1", "a2"]), .of(["a3", "a4"])]), "a1 a3 a2 a4 completed"),
    OrderCase(.merge([.of(["a1", "a2"]), .just("a3")]), "a3 a1 a2 completed"),
    OrderCase(.merge([.just("a1"), .of(["a2", "a3"])]), "a1 a2 a3 completed"),
    OrderCase(
      .merge([.of(["a1"]), .just("a2"), .of([]), .of(["a3", "a4", "a5", "a6", "a7"])]),
      "a2 a1 a3 a4 a5 a6 a7 completed"),
    OrderCase(
      .merge([.startWith(["a1", "a2"], .of(["a3", "a4"])), .of(["b1", "b2"])]), "a1 a2 a3 b1 a4 b2 completed"),
    OrderCase(.merge([.startWith(["a1", "a2"], .just("a3")), .just("b1")]), "a1 a2 a3 b1 completed"),
    OrderCase(
      .merge([.concat([.just("a1"), .just("a2"), .just("a3")]), .of(["b1", "b2"])]),
      "a1 a2 a3 b1 b2 completed"),
    OrderCase(
      .merge([.concat([.of(["a1", "a2"]), .of(["a3"])]), .of(["b1", "b2", "b3", "b4"])]),
      "a1 b1 a2 b2 b3 a3 b4 completed"),
    OrderCase(
      .merge([.map(.of(["a1", "a2"])), .take(1, .of(["b1", "b2"])), .of(["c1", "c2"])]),
      "a1' b1 c1 a2' c2 completed"),
    OrderCase(.merge([.of(["a1", "a2", "a3"]), .concat([.of(["b1"]), .failure])]), "a1 b1 a2 error"),
    OrderCase(
      .merge([.deferred(.of(["a1", "a2"])), .subscribed(.of(["b1", "b2"]), "b0")]), "b0 a1 b1 a2 b2 completed"
    ),
    OrderCase(.create(["a1"], .of(["b1", "b2"]), ["a2", "a3"]), "a1 a2 a3 b1 b2 completed"),
    OrderCase(.subscribed(.just("a1"), "a0"), "a1 a0 completed"),
    OrderCase(.shared(replay: 0, .of(["a1", "a2"])), "a1 a1+ a2 a2+ completed"),
    OrderCase(.shared(replay: 1, .startWith(["a0"], .of(["a1", "a2"]))), "a0 a0+ a1 a1+ a2 a2+ completed"),
    OrderCase(
      .merge([.observeOnCurrentThread(.startWith(["a1", "a2"], .just("a3"))), .of(["b1", "b2"])]),
      "a1 b1 a2 b2 a3 completed"),
    // Operators of several streams.
    OrderCase(.combineLatest([.of(["a", "b"]), .of(["c", "d"])]), "ac bc bd completed"),
    OrderCase(
      .combineLatest([.of(["a", "b"]), .just("c"), .of(["d", "e", "f"])]), "acd bcd bce bcf completed"),
    OrderCase(.combineLatest([.just("a"), .of(["c", "d"])]), "ac ad completed"),
    OrderCase(
      .combineLatest([.of(["a", "b"]), .merge([.of(["c", "d"]), .of(["e", "f"])])]),
      "ac ae be bd bf completed"),
    OrderCase(.zip([.of(["a", "b"]), .merge([.of(["c", "d"]), .just("e")])]), "ae bc completed"),
    OrderCase(.withLatestFrom(.of(["a", "b"]), .of(["c", "d"])), "ac bd completed"),
    OrderCase(.withLatestFrom(.just("a"), .of(["c", "d"])), "completed"),
    OrderCase(
      .withLatestFrom(.startWith(["a"], .of(["b", "e"])), .startWith(["c"], .of(["d"]))), "ac bd ed completed"
    ),
    OrderCase(.takeUntil(.of(["a", "b", "c"]), .skip(1, .of(["d", "e"]))), "a completed"),
    OrderCase(.takeUntil(.startWith(["a"], .of(["b", "c"])), .of(["d"])), "a completed"),
    OrderCase(.skipUntil(.of(["a", "b", "c"]), .of(["d"])), "b c completed"),
    OrderCase(.skipUntil(.of(["a", "b", "c"]), .just("d")), "a b c completed"),
    // One stream for each element of another.
    OrderCase(.flatMap(.all, .of(["a", "b"]), .of(["1", "2", "3"])), "a1 a2 b1 a3 b2 b3 completed"),
    OrderCase(.flatMap(.all, .of(["a", "b", "c"]), .just("1")), "a1 b1 c1 completed"),
    OrderCase(.flatMap(.first, .of(["a", "b", "c", "d"]), .of(["1"])), "a1 c1 completed"),
    OrderCase(.flatMap(.latest, .of(["a", "b"]), .of(["1", "2"])), "a1 b1 b2 completed"),
    OrderCase(
      .flatMap(.latest, .of(["a", "b"]), .startWith(["0"], .of(["1", "2"]))), "a0 a1 b0 b1 b2 completed"),
    OrderCase(.flatMap(.concat, .of(["a", "b"]), .of(["1", "2"])), "a1 a2 b1 b2 completed"),
    OrderCase(
      .flatMap(.all, .just("a"), .merge([.of(["1", "2"]), .of(["3", "4"])])), "a1 a3 a2 a4 completed"),
    OrderCase(
      .flatMap(.all, .flatMap(.all, .of(["a", "b"]), .of(["1", "2"])), .of(["x", "y"])),
      "a1x a1y a2x b1x a2y b1y b2x b2y completed"),
    OrderCase(
      .mergeOfStreams([.of(["a", "b"]), .of(["c", "d"]), .just("e")], maxConcurrent: nil),
      "a b c e d completed"),
    OrderCase(
      .mergeOfStreams([.of(["a", "b"]), .of(["c", "d", "e", "f"]), .of(["g", "h"])], maxConcurrent: 2),
      "a b c d e g f h completed"),
    OrderCase(
      .merge([.mergeOfStreams([.of(["a"]), .just("b")], maxConcurrent: 1), .of(["c", "d", "e"])]),
      "c a d e b completed"),
    // Going on after a failure.
    OrderCase(
      .merge([.catch(.concat([.of(["a"]), .failure]), .of(["b", "c"])), .of(["d", "e", "f"])]),
      "a d e b f c completed"),
    OrderCase(.merge([.catch(.failure, .just("b")), .of(["d", "e"])]), "b d e completed"),
    OrderCase(
      .merge([.retry(2, .concat([.of(["a", "b"]), .failure])), .catch(.of(["c", "d", "e"]), .empty)]),
      "a c b d e a b error"),
    OrderCase(.retryWhen(2, .startWith(["a"], .concat([.of(["b"]), .failure]))), "a b a b error"),
  ]
}
