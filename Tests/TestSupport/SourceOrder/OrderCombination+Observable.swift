import ReactorRuntime

/// The functions that have a parameter for each stream.
extension OrderPipe {
  static func combination(
    _ kind: OrderCombination, _ streams: [Observable<String>]
  ) -> Observable<String> {
    switch kind {
    case .latest: latest(streams)
    case .zip: zipped(streams)
    case .zipOfSingles: zipped(streams.map { $0.take(1).asSingle() }).asObservable()
    case .zipOfMaybes: zipped(streams.map { $0.take(1).asMaybe() }).asObservable()
    }
  }

  private static func latest(_ s: [Observable<String>]) -> Observable<String> {
    switch s.count {
    case 2: .combineLatest(s[0], s[1]) { [$0, $1].joined() }
    case 3: .combineLatest(s[0], s[1], s[2]) { [$0, $1, $2].joined() }
    case 4: .combineLatest(s[0], s[1], s[2], s[3]) { [$0, $1, $2, $3].joined() }
    case 5: .combineLatest(s[0], s[1], s[2], s[3], s[4]) { [$0, $1, $2, $3, $4].joined() }
    case 6: .combineLatest(s[0], s[1], s[2], s[3], s[4], s[5]) { [$0, $1, $2, $3, $4, $5].joined() }
    case 7:
      .combineLatest(s[0], s[1], s[2], s[3], s[4], s[5], s[6]) { [$0, $1, $2, $3, $4, $5, $6].joined() }
    case 8:
      .combineLatest(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]) {
        [$0, $1, $2, $3, $4, $5, $6, $7].joined()
      }
    default: fatalError("no combination of \(s.count)")
    }
  }

  private static func zipped(_ s: [Observable<String>]) -> Observable<String> {
    switch s.count {
    case 2: .zip(s[0], s[1]) { [$0, $1].joined() }
    case 3: .zip(s[0], s[1], s[2]) { [$0, $1, $2].joined() }
    case 4: .zip(s[0], s[1], s[2], s[3]) { [$0, $1, $2, $3].joined() }
    case 5: .zip(s[0], s[1], s[2], s[3], s[4]) { [$0, $1, $2, $3, $4].joined() }
    case 6: .zip(s[0], s[1], s[2], s[3], s[4], s[5]) { [$0, $1, $2, $3, $4, $5].joined() }
    case 7: .zip(s[0], s[1], s[2], s[3], s[4], s[5], s[6]) { [$0, $1, $2, $3, $4, $5, $6].joined() }
    case 8:
      .zip(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]) { [$0, $1, $2, $3, $4, $5, $6, $7].joined() }
    default: fatalError("no combination of \(s.count)")
    }
  }

  private static func zipped<Trait: ElementTrait>(
    _ s: [PrimitiveSequence<Trait, String>]
  ) -> PrimitiveSequence<Trait, String> {
    switch s.count {
    case 2: .zip(s[0], s[1]) { [$0, $1].joined() }
    case 3: .zip(s[0], s[1], s[2]) { [$0, $1, $2].joined() }
    case 4: .zip(s[0], s[1], s[2], s[3]) { [$0, $1, $2, $3].joined() }
    case 5: .zip(s[0], s[1], s[2], s[3], s[4]) { [$0, $1, $2, $3, $4].joined() }
    case 6: .zip(s[0], s[1], s[2], s[3], s[4], s[5]) { [$0, $1, $2, $3, $4, $5].joined() }
    case 7: .zip(s[0], s[1], s[2], s[3], s[4], s[5], s[6]) { [$0, $1, $2, $3, $4, $5, $6].joined() }
    case 8:
      .zip(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]) { [$0, $1, $2, $3, $4, $5, $6, $7].joined() }
    default: fatalError("no combination of \(s.count)")
    }
  }
}
