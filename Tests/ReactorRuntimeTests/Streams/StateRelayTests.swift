import ReactorRuntime
import TestSupport
import Testing

@Suite struct StateRelayTests {
  private func note(_ relay: StateRelay<Int>, in record: Record<Int>) -> any Disposable {
    relay.subscribe(onNext: { record.append($0) })
  }

  @Test func `its value can be read, set and accepted, and observers are told each time`() {
    let relay = StateRelay(value: 1)
    let record = Record<Int>()
    _ = note(relay, in: record)
    #expect(relay.value == 1)
    relay.value = 2
    relay.accept(2)
    relay.value += 1
    #expect(relay.value == 3)
    #expect(record.elements == [1, 2, 2, 3])
  }

  @Test func `who subscribes is told the value first`() {
    let relay = StateRelay(value: 1)
    relay.accept(2)
    let record = Record<Int>()
    _ = note(relay, in: record)
    #expect(record.elements == [2])
  }

  @Test func `a value that an observer sets is the value at once`() {
    let relay = StateRelay(value: 0)
    let record = Record<Int>()
    _ = relay.subscribe(onNext: { element in
      record.append(element)
      if element == 1 { for _ in 0..<3 { relay.value += 1 } }
    })
    relay.value = 1
    #expect(relay.value == 4)
    #expect(record.elements == [0, 1, 2, 3, 4])
  }

  @Test func `a stream can be bound to it, whose end it ignores`() {
    let relay = StateRelay(value: 0)
    let source = PublishSubject<Int>()
    _ = source.bind(to: relay)
    source.onNext(1)
    source.onCompleted()
    #expect(relay.value == 1)
    let record = Record<Int>()
    _ = note(relay, in: record)
    relay.accept(2)
    #expect(record.elements == [1, 2])
  }

  @Test func `a failure of what is bound to it is reported, and does not end it`() {
    struct Failed: Error {}
    let relay = StateRelay(value: 0)
    let errors = HookedErrors { error in error is Failed }
    _ = Observable<Int>.error(Failed()).bind(to: relay)
    #expect(errors.stop().count == 1)
    relay.accept(1)
    #expect(relay.value == 1)
  }

  @Test func `it knows whether it has observers, and goes away with them`() {
    let lifetimes = Lifetimes()
    do {
      let relay = StateRelay(value: lifetimes.track())
      #expect(!relay.hasObservers)
      _ = relay.subscribe(onNext: { [kept = lifetimes.track()] _ in _ = kept })
      #expect(relay.hasObservers)
    }
    #expect(lifetimes.alive == 0)
  }
}
