import ReactorRuntime
import TestSupport
import Testing

@Suite struct StateRelayTests {
  private func note(_ relay: StateRelay<Int>, in record: Record<Int>) -> any Disposable {
    relay.subscribe(onNext: { record.append($0) })
  }

  @Test func `observers of a relay receive each value that was set`() {
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

  @Test func `a new observer of a relay receives the value first`() {
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

  @Test func `a relay ignores the completion of a stream that is bound to it`() {
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

  @Test func `a failure of a stream bound to a relay is passed to the hook, and does not end the relay`() {
    struct Failed: Error {}
    let relay = StateRelay(value: 0)
    let errors = HookedErrors { error in error is Failed }
    _ = Observable<Int>.error(Failed()).bind(to: relay)
    #expect(errors.stop().count == 1)
    relay.accept(1)
    #expect(relay.value == 1)
  }

  @Test func `a relay knows whether it has observers, and releases them`() {
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
