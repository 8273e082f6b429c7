import ReactorRuntime

/// What stands on the way of an action in one variant of the stream cases. Without anything it is `.just`.
protocol StreamShape: Sendable {
  static func mutate(_ item: Item) -> Observable<StreamMutation>
  static func transform(action: Observable<Item>) -> Observable<Item>
  static func transform(mutation: Observable<StreamMutation>) -> Observable<StreamMutation>
  static func transform(state: Observable<StreamState>) -> Observable<StreamState>
  static var setsPulse: Bool { get }
  static var observers: Int { get }
  static var statesPerAction: Int { get }
  static func observe(_ reactor: StreamReactor<Self>, _ seen: Seen) -> any Disposable
}

extension StreamShape {
  static func mutate(_ item: Item) -> Observable<StreamMutation> { .just(.add(item)) }
  static func transform(action: Observable<Item>) -> Observable<Item> { action }
  static func transform(mutation: Observable<StreamMutation>) -> Observable<StreamMutation> { mutation }
  static func transform(state: Observable<StreamState>) -> Observable<StreamState> { state }
  static var setsPulse: Bool { false }
  static var observers: Int { 0 }
  static var statesPerAction: Int { 1 }
  static func observe(_ reactor: StreamReactor<Self>, _ seen: Seen) -> any Disposable {
    reactor.state.subscribe(onNext: { _ in seen.note() })
  }
}

enum Just: StreamShape {}

enum OfTwo: StreamShape {
  static func mutate(_ item: Item) -> Observable<StreamMutation> { .of(.nothing, .add(item)) }
}

/// Three streams of which the middle one is not known at once, so that they are really gone through one by
/// one.
enum ConcatOfThree: StreamShape {
  static func mutate(_ item: Item) -> Observable<StreamMutation> {
    .concat([.just(.nothing), .deferred { .just(.add(item)) }, .just(.nothing)])
  }
}

/// Three streams that are known at once.
enum ConcatOfThreeJust: StreamShape {
  static func mutate(_ item: Item) -> Observable<StreamMutation> {
    .concat([.just(.nothing), .just(.add(item)), .just(.nothing)])
  }
}

enum TransformedAction: StreamShape {
  static func transform(action: Observable<Item>) -> Observable<Item> { action.map { $0 } }
}

enum TransformedMutation: StreamShape {
  static func transform(mutation: Observable<StreamMutation>) -> Observable<StreamMutation> {
    mutation.map { $0 }
  }
}

enum TransformedState: StreamShape {
  static func transform(state: Observable<StreamState>) -> Observable<StreamState> { state.map { $0 } }
}

enum OneObserver: StreamShape {
  static var observers: Int { 1 }
}

enum FourObservers: StreamShape {
  static var observers: Int { 4 }
}

enum MappedDistinct: StreamShape {
  static var observers: Int { 1 }
  static func observe(_ reactor: StreamReactor<Self>, _ seen: Seen) -> any Disposable {
    reactor.state.map { $0.totals.count }.distinctUntilChanged().subscribe(onNext: { _ in seen.note() })
  }
}

enum Pulsed: StreamShape {
  static var setsPulse: Bool { true }
  static var observers: Int { 1 }
  static func observe(_ reactor: StreamReactor<Self>, _ seen: Seen) -> any Disposable {
    reactor.pulse(\.$last).subscribe(onNext: { _ in seen.note() })
  }
}
