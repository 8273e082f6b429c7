import ControlledScheduler
import ReactorRuntime
import TestSupport
import Testing

extension Controlled {
  /// Reactors with transforms of their own, into which other threads merge elements: nothing is lost or doubled, each
  /// source keeps its order, and a transform that ends closes the reactor.
  @Suite struct TransformTests {
    @Test(arguments: Place.allCases)
    func `events of a service are merged into the mutations`(_ place: Place) {
      explore("transform(mutation:), two senders and a service, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let service = PublishSubject<Parcel>()
          let subject = Transformed(
            ledger, on: placement, mutation: { .merge($0, service.asObservable()) })
          // The first turn calls the transform. Before that nobody would get an event.
          ledger.send(0) { subject.send($0) }
          while ledger.reduced[0] == nil { sleep(.seconds(1)) }
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          together(
            { send(1) }, { send(2) },
            { for number in 30..<32 { ledger.send(number, source: 1) { service.onNext($0) } } })
          ledger.verifyAtRest()
          check(subject.currentState.count == 7, "\(subject.currentState.count) mutations of 7")
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `actions of a service are merged into the actions`(_ place: Place) {
      explore("transform(action:), a sender, a service and a reader, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let service = PublishSubject<Parcel>()
          let subject = Transformed(
            ledger, on: placement, action: { .merge($0, service.asObservable()) })
          ledger.send(0) { subject.send($0) }
          while ledger.reduced[0] == nil { sleep(.seconds(1)) }
          together(
            { for number in 10..<13 { ledger.send(number) { subject.send($0) } } },
            { for number in 20..<23 { ledger.send(number, source: 1) { service.onNext($0) } } },
            { for _ in 0..<2 { subject.withCurrentState { $0.check() } } })
          ledger.verifyAtRest()
          check(subject.currentState.count == 7, "\(subject.currentState.count) mutations of 7")
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a transform that ends while others send closes the reactor`(_ place: Place) {
      explore("transform(action:) that ends, three senders, \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let subject = Transformed(ledger, on: placement, action: { $0.take(2) })
          // The second action that is processed ends the transform.
          ledger.willClose()
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 {
              ledger.send(sender * 10 + number) { parcel throws(SendError) in try subject.trySend(parcel) }
            }
          }
          together({ send(0) }, { send(1) }, { send(2) })
          check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
          ledger.hasEnded()
          check(subject.isClosed && ledger.reduced.count == 2, "\(ledger.reduced.count) mutations of 2")
        }
        ledger.verify()
      }
    }

    /// One observer subscribes before the end, and one beside it, which may find the reactor closed.
    @Test(arguments: Place.allCases)
    func `observers are completed when a transform ends`(_ place: Place) {
      explore("transform(action:) that ends, and an observer, \(place)") {
        let (ledger, completed) = (Ledger(), Record<Int>())
        place.use { placement in
          let end = PublishSubject<Void>()
          let subject = Transformed(ledger, on: placement, action: { $0.take(until: end.asObservable()) })
          let observe = { @Sendable (number: Int) in
            _ = subject.state.subscribe(onCompleted: { completed.append(number) })
          }
          observe(0)
          // The first turn calls the transform.
          ledger.send(0) { subject.send($0) }
          while ledger.reduced[0] == nil { sleep(.seconds(1)) }
          ledger.willClose()
          together({ end.onNext(()) }, { observe(1) })
          check(
            completed.elements.sorted() == [0, 1],
            "of the observers 0 and 1, \(completed.elements) are completed")
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `observers of transformed states miss none`(_ place: Place) {
      explore("transform(state:), two senders and an observer, \(place)") {
        let (ledger, seen) = (Ledger(), Record<Int>())
        place.use { placement in
          let subject = Transformed(
            ledger, on: placement,
            state: { states in
              states.map {
                var state = $0
                state.shown = 10 * state.count
                return state
              }
            })
          let observer = subject.state.subscribe(onNext: { seen.append($0.shown) })
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          together({ send(1) }, { send(2) })
          ledger.verifyAtRest()
          subject.close()
          check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
          observer.dispose()
        }
        check(seen.elements == [0, 10, 20, 30, 40], "\(seen.elements)")
        ledger.verify()
      }
    }
  }
}

/// A reactor whose transforms are closures.
private final class Transformed: Reactor {
  typealias Action = Parcel
  typealias Mutation = Parcel
  typealias Transform<Element: Sendable> = @Sendable (Observable<Element>) -> Observable<Element>
  struct State: Sendable {
    var count = 0
    /// Of `transform(state:)`.
    var shown = 0
    private var twice = 0

    mutating func add() {
      count += 1
      ctl_point("changes the state", nil, ctl_place())
      twice += 2
    }

    /// Checks that this is a whole state.
    func check() {
      ctl_point("reads the state", nil, ctl_place())
      ControlledTests.check(twice == 2 * count, "a torn state: \(count) and \(twice)")
    }
  }

  let initialState = State()
  let runtime: Runtime<Parcel, Parcel, State>
  private let ledger: Ledger
  private let onAction: Transform<Parcel>
  private let onMutation: Transform<Parcel>
  private let onState: Transform<State>

  init(
    _ ledger: Ledger, on placement: Placement, action: @escaping Transform<Parcel> = { $0 },
    mutation: @escaping Transform<Parcel> = { $0 }, state: @escaping Transform<State> = { $0 }
  ) {
    runtime = Runtime(on: placement, capacity: 2, onFailure: { [ledger] in ledger.report($0) })
    self.ledger = ledger
    onAction = action
    onMutation = mutation
    onState = state
    ledger.wasBorn()
  }

  deinit {
    ledger.wasFreed()
    ledger.hasDied()
  }

  func mutate(action: Parcel) -> Observable<Parcel> {
    ledger.beginMutate(action.id)
    ledger.endMutate()
    return .just(action)
  }

  func reduce(into state: inout State, mutation: Parcel) {
    ledger.reduce(mutation.id)
    state.add()
  }

  func transform(action: Observable<Parcel>) -> Observable<Parcel> { onAction(action) }
  func transform(mutation: Observable<Parcel>) -> Observable<Parcel> { onMutation(mutation) }
  func transform(state: Observable<State>) -> Observable<State> { onState(state) }
}
