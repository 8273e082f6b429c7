import ReactorCore
import ReactorRuntime

/// A reactor on the sender's thread, whose actions pass through streams, and its observers.
final class StreamSubject<Shape: StreamShape>: FanInSubject {
  private let reactor: StreamReactor<Shape>
  private let observers: [Seen]
  private let bag = DisposeBag()

  init(_ setup: SubjectSetup) {
    reactor = StreamReactor(setup)
    observers = (0..<Shape.observers).map { _ in Seen() }
    for seen in observers { Shape.observe(reactor, seen).disposed(by: bag) }
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reactor.send(Item(producer: UInt64(producer), value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    let totals = reactor.currentState.totals
    // The state at the subscription, and one for each action.
    for seen in observers where seen.count != totals.count * Shape.statesPerAction + 1 {
      throw SubjectFailure("an observer has seen \(seen.count) states of \(totals.count) actions")
    }
    return totals
  }
}

/// Counts the states that one observer got. The reactor's owner writes it, and the harness reads it after the last turn.
final class Seen: Sendable {
  private let states = OwnerIsolated(0)

  var count: Int { states.value }

  @inline(__always)
  func note() { states.value &+= 1 }
}

/// The state of a stream case: the totals, and a pulse that every action sets.
struct StreamState: Sendable {
  var tally: Tally
  @Pulse var last: UInt64 = 0

  var totals: Totals { tally.totals }
}

enum StreamMutation: Sendable {
  case add(Item)
  /// Changes nothing: for streams of several mutations.
  case nothing
}

final class StreamReactor<Shape: StreamShape>: Reactor {
  typealias Action = Item
  typealias Mutation = StreamMutation
  typealias State = StreamState

  let initialState: StreamState
  let runtime: Runtime<Item, StreamMutation, StreamState>

  init(_ setup: SubjectSetup) {
    initialState = StreamState(tally: Tally(inspector: setup.inspector))
    runtime = Runtime(on: .caller, capacity: setup.capacity)
  }

  func transform(action: Observable<Item>) -> Observable<Item> { Shape.transform(action: action) }
  func mutate(action: Item) -> Observable<StreamMutation> { Shape.mutate(action) }
  func transform(mutation: Observable<StreamMutation>) -> Observable<StreamMutation> {
    Shape.transform(mutation: mutation)
  }
  func transform(state: Observable<StreamState>) -> Observable<StreamState> { Shape.transform(state: state) }

  func reduce(into state: inout StreamState, mutation: StreamMutation) {
    switch mutation {
    case .add(let item):
      state.tally.reduce(item)
      if Shape.setsPulse { state.last = item.value }
    case .nothing: break
    }
  }
}

/// What an action passes through in one variant of the stream cases. The default is `.just`, without an observer.
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

/// Three streams. The elements of the middle one are not known at once, so the streams are subscribed to one by one.
enum ConcatOfThree: StreamShape {
  static func mutate(_ item: Item) -> Observable<StreamMutation> {
    .concat([.just(.nothing), .deferred { .just(.add(item)) }, .just(.nothing)])
  }
}

/// Three streams whose elements are known at once.
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
