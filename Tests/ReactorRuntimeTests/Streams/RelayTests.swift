import ReactorRuntime
import TestSupport
import Testing

/// PublishRelay and ReplayRelay; StateRelay has a suite of its own.
@Suite struct RelayTests {
  private let record = Record<String>()

  @Test func `a publish relay sends what it accepts from the subscription on`() {
    let relay = PublishRelay<Int>()
    relay.accept(1)
    #expect(!relay.hasObservers)
    let subscription = record.observe(relay.asObservable())
    relay.accept(2)
    #expect(relay.hasObservers)
    subscription.dispose()
    relay.accept(3)
    #expect(record.elements == ["next(2)"])
  }

  @Test func `a replay relay replays as many elements as it keeps`() {
    let relay = ReplayRelay<Int>.create(bufferSize: 2)
    for number in 1...3 { relay.accept(number) }
    let subscription = record.observe(relay.asObservable())
    relay.accept(4)
    #expect(record.elements == ["next(2)", "next(3)", "next(4)"])
    #expect(relay.hasObservers)
    subscription.dispose()
    #expect(!relay.hasObservers)
  }

  @Test func `relays do not end with a stream that is bound to them`() {
    struct Failed: Error {}
    let errors = HookedErrors { $0 is Failed }
    let (publish, replay) = (PublishRelay<Int>(), ReplayRelay<Int>.create(bufferSize: 1))
    let subscriptions = [record.observe(publish.asObservable()), record.observe(replay.asObservable())]
    Observable.just(1).bind(to: publish, replay)
    Observable<Int>.error(Failed()).bind(to: publish, replay)
    publish.accept(2)
    replay.accept(3)
    #expect(record.elements == ["next(1)", "next(1)", "next(2)", "next(3)"])
    #expect(errors.stop().count == 2)
    for subscription in subscriptions { subscription.dispose() }
  }

  @Test func `an element that an observer sends to a relay comes after the running one`() {
    let relay = PublishRelay<Int>()
    let subscription = relay.subscribe(onNext: { [record] number in
      if number < 3 { relay.accept(number + 1) }
      record.append("\(number)")
    })
    relay.accept(1)
    #expect(record.elements == ["1", "2", "3"])
    subscription.dispose()
  }

  @Test func `elements are bound to relays of optional elements, and to methods of objects`() {
    final class View: Sendable {
      let shown = Record<Int>()
      func show(_ number: Int) { shown.append(number) }
    }
    let relay = StateRelay<Int?>(value: nil)
    Observable.of(1, 2).bind(to: relay)
    #expect(relay.value == 2)
    let source = PublishSubject<Int>()
    var view: View? = View()
    let shown = view!.shown
    source.bind(with: view!) { $0.show($1) }
    source.onNext(1)
    view = nil
    source.onNext(2)
    #expect(shown.elements == [1])
  }

  @Test func `a bag disposes of what its block lists`() {
    let feeds = (0..<4).map { _ in Feed<Int>() }
    let isFourth = feeds.count == 4
    var bag: DisposeBag? = DisposeBag {
      feeds[0].stream.subscribe()
      for feed in feeds[1...2] { feed.stream.subscribe() }
      if isFourth { feeds[3].stream.subscribe() } else { feeds[0].stream.subscribe() }
    }
    #expect(feeds.map(\.subscriptions) == [1, 1, 1, 1])
    bag?.insert { feeds[0].stream.subscribe() }
    #expect(feeds[0].subscriptions == 2)
    bag = nil
    #expect(feeds.map(\.subscriptions) == [0, 0, 0, 0])
    bag = DisposeBag(disposing: feeds[0].stream.subscribe(), feeds[1].stream.subscribe())
    #expect(feeds.map(\.subscriptions) == [1, 1, 0, 0])
    bag = nil
    #expect(feeds.map(\.subscriptions) == [0, 0, 0, 0])
  }
}
