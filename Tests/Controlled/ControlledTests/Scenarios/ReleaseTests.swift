import ReactorRuntime
import Testing

extension Controlled {
  /// Observers and streams that end on one thread while another one is the owner: what they hold is released. That may send an
  /// action to the reactor, which is processed or refused.
  @Suite struct ReleaseTests {
    /// Each thread runs its step as the owner, or finds the other one to be the owner and relies on it.
    @Test(arguments: Place.allCases)
    func `observers that two threads dispose of after the end are released`(_ place: Place) {
      explore("two disposals after the end, \(place)", schedules: 200) {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement)
          // Each observer keeps the reactor alive until its disposal.
          let states = subject.state.subscribe(onNext: { _ in withExtendedLifetime(subject) {} })
          let actions = subject.action.subscribe(onNext: { _ in withExtendedLifetime(subject) {} })
          ledger.willClose()
          subject.close()
          check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
          together({ states.dispose() }, { actions.dispose() })
        }
        ledger.verify()
      }
    }

    /// The last turn may release the observer. Then the action comes from inside of that turn, and needs another one.
    @Test(arguments: Place.allCases)
    func `an action that the end of an observer sends beside a close is processed or refused`(_ place: Place)
    {
      explore("a close, and an observer whose end sends, \(place)", schedules: 400) {
        let ledger = Ledger()
        place.use { placement in
          let subject = Subject(ledger, on: placement)
          let observer = {
            let atEnd = AtEnd { ledger.send(0) { subject.send($0) } }
            return subject.state.subscribe(onNext: { _ in withExtendedLifetime(atEnd) {} })
          }()
          ledger.willClose()
          together({ subject.close() }, { observer.dispose() })
          check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
          ledger.hasEnded()
        }
        ledger.verify()
      }
    }

    /// The stream may end after the owner has subscribed to it, and before the owner keeps the subscription.
    @Test(arguments: Place.allCases)
    func `a stream that another thread ends leaves nothing behind`(_ place: Place) {
      explore("a send, and the end of its stream, \(place)", schedules: 400) {
        let ledger = Ledger()
        place.use { placement in
          let (source, hasBegun) = (PublishSubject<Never>(), Latch())
          let streaming = Streaming(ledger, on: placement) {
            // The stream must not end earlier: one that has ended when the reactor subscribes is never kept.
            hasBegun.open()
            return source.asObservable()
          }
          together(
            { ledger.send(0) { streaming.send($0) } },
            {
              hasBegun.wait()
              source.onCompleted()
            })
          check(ledger.alive == 1, "\(ledger.alive - 1) actions are alive although their streams have ended")
          ledger.willClose()
        }
        ledger.verify()
      }
    }
  }
}

/// Calls a closure when the last reference to it goes away.
private final class AtEnd: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  deinit { body() }
}

/// A reactor each of whose actions starts a stream, and changes nothing.
private final class Streaming: Reactor {
  typealias Action = Parcel
  typealias Mutation = Never
  struct State: Sendable {}

  let initialState = State()
  let runtime: Runtime<Parcel, Never, State>
  private let ledger: Ledger
  private let stream: @Sendable () -> Observable<Never>

  init(
    _ ledger: Ledger, on placement: Placement, _ stream: @escaping @Sendable () -> Observable<Never>
  ) {
    runtime = Runtime(on: placement, onFailure: { [ledger] in ledger.report($0) })
    self.ledger = ledger
    self.stream = stream
    ledger.wasBorn()
  }

  deinit {
    ledger.wasFreed()
    ledger.hasDied()
  }

  func mutate(action: Parcel) -> Observable<Never> {
    ledger.beginMutate(action.id)
    ledger.reduce(action.id)
    ledger.endMutate()
    return stream()
  }
}
