import ReactorRuntime
import TestSupport
import Testing

/// Tests of reactors that store no runtime.
@Suite struct AttachedRuntimeTests {
  /// Where a reactor listens to a source.
  enum Place: CaseIterable, Sendable {
    case mutate
    case transformAction
    case transformMutation
    case transformState
  }

  final class Listening: ReactorKitReactor {
    typealias Action = Int
    let initialState = 0
    let (place, source): (Place, Observable<Int>)

    init(to source: Observable<Int>, in place: Place) { (self.place, self.source) = (place, source) }

    func mutate(action: Int) -> Observable<Int> { place == .mutate ? source : .just(action) }
    func reduce(state: Int, mutation: Int) -> Int { state + mutation }
    func transform(action: Observable<Int>) -> Observable<Int> {
      place == .transformAction ? .merge(action, source) : action
    }
    func transform(mutation: Observable<Int>) -> Observable<Int> {
      place == .transformMutation ? .merge(mutation, source) : mutation
    }
    func transform(state: Observable<Int>) -> Observable<Int> {
      place == .transformState ? .merge(state, source) : state
    }
  }

  @Test(arguments: Place.allCases)
  func `18. A stream that emits after its reactor is gone ends, also without a stored runtime`(_ place: Place)
  {
    let subject = PublishSubject<Int>()
    let heard = Record<Int>()
    weak var gone: Listening?
    do {
      let reactor = Listening(to: subject.do(onNext: { heard.append($0) }), in: place)
      gone = reactor
      reactor.action.onNext(1)
      subject.onNext(2)
      #expect(heard.elements == [2])
    }
    #expect(Threads.yield { gone == nil })
    for number in 3...9 { subject.onNext(number) }
    // The first one finds that the reactor is gone, unless its runtime was removed in the background before.
    #expect(heard.elements.count <= 2)
    #expect(!subject.hasObservers)
  }

  /// Emits into its own stream when it goes away, and then reads its state.
  final class Saving: ReactorKitReactor {
    typealias Action = Int
    let initialState = 0
    let (source, saved): (PublishSubject<Int>, Record<Int>)

    init(_ source: PublishSubject<Int>, _ saved: Record<Int>) { (self.source, self.saved) = (source, saved) }
    deinit {
      source.onNext(5)
      saved.append(currentState)
    }

    func mutate(action: Int) -> Observable<Int> { .concat(.just(action), source.asObservable()) }
    func reduce(state: Int, mutation: Int) -> Int { state + mutation }
  }

  @Test
  func `18. A reactor without a stored runtime reads its state in its deinit, whatever its streams emit`() {
    let (source, saved) = (PublishSubject<Int>(), Record<Int>())
    do {
      let reactor = Saving(source, saved)
      reactor.action.onNext(1)
      source.onNext(2)
    }
    #expect(Threads.yield { !saved.elements.isEmpty })
    #expect(saved.elements == [3])
    #expect(!source.hasObservers)
  }
}
