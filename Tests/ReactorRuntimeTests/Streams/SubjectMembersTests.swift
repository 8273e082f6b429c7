import TestSupport
import Testing

@testable import ReactorRuntime

/// Tests that a subject keeps nothing of observers that have left.
@Suite struct SubjectMembersTests {
  private let observers = 3
  private let events = 1000

  private func check(
    _ core: SubjectCore<Int>, _ stream: Observable<Int>, _ sourceLocation: SourceLocation = #_sourceLocation,
    leave: @escaping @Sendable (Observable<Int>) -> Void
  ) {
    let subscriptions = (0..<observers).map { _ in stream.subscribe(onNext: { _ in leave(stream) }) }
    for number in 1...events { core.on(.next(number)) }
    let (count, removed) = core.state.withLock { ($0.members.count, $0.removedCount) }
    #expect(count == observers, sourceLocation: sourceLocation)
    #expect(removed == 0, sourceLocation: sourceLocation)
    #expect(core.hasObservers, sourceLocation: sourceLocation)
    for subscription in subscriptions { subscription.dispose() }
    #expect(!core.hasObservers, sourceLocation: sourceLocation)
  }

  @Test func `an observer that comes and goes within one delivery leaves nothing behind`() {
    let leave = { @Sendable (stream: Observable<Int>) in stream.subscribe().dispose() }
    let (publish, behavior) = (PublishSubject<Int>(), BehaviorSubject(value: 0))
    let (replay, relay) = (ReplaySubject<Int>.create(bufferSize: 2), StateRelay(value: 0))
    check(publish.core, publish.asObservable(), leave: leave)
    check(behavior.core, behavior.asObservable(), leave: leave)
    check(replay.core, replay.asObservable(), leave: leave)
    check(relay.core, relay.asObservable(), leave: leave)
  }

  @Test func `an observer that reads the current element leaves nothing behind`() {
    let relay = StateRelay(value: 0)
    check(relay.core, relay.asObservable()) { stream in _ = stream.take(1).subscribe() }
  }

  @Test func `of the observers that come within one delivery those that stay are kept`() {
    let subject = PublishSubject<Int>()
    let seen = Record<Int>()
    _ = subject.subscribe(onNext: { [seen] number in
      let leaving = subject.subscribe()
      if number < 3 { _ = subject.subscribe(onNext: { seen.append(number * 10 + $0) }) }
      leaving.dispose()
    })
    for number in 1...3 { subject.onNext(number) }
    #expect(seen.elements == [12, 13, 23])
    #expect(subject.core.state.withLock { $0.members.count } == 3)
  }
}
