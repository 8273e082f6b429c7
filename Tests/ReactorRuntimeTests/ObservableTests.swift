import TestSupport
import Testing

@testable import ReactorRuntime

/// Tests of the streams of known elements that `mutate` returns.
@Suite struct ObservableTests {
  private func elements<Element>(of stream: Observable<Element>) -> [Element] {
    var elements: [Element] = []
    #expect(stream.isKnown)
    stream.deliver(to: { elements.append($0) }, orStream: { _ in })
    return elements
  }

  @Test func `known elements are emitted in order`() {
    #expect(elements(of: Observable<Int>.empty()) == [])
    #expect(elements(of: .just(1)) == [1])
    #expect(elements(of: .of(1, 2)) == [1, 2])
    #expect(elements(of: .of(1, 2, 3)) == [1, 2, 3])
    #expect(elements(of: .of(1, 2, 3, 4)) == [1, 2, 3, 4])
    #expect(elements(of: .of(1, 2, 3, 4, 5)) == [1, 2, 3, 4, 5])
    #expect(elements(of: .from([Int]())) == [])
    #expect(elements(of: .from(Array(0..<100))) == Array(0..<100))
  }

  @Test func `a stream of known elements can be read again`() {
    let stream = Observable.of("a", "b", "c")
    #expect(elements(of: stream) == ["a", "b", "c"])
    #expect(elements(of: stream) == ["a", "b", "c"])
  }

  @Test func `a stream releases its known elements`() {
    let lifetimes = Lifetimes()
    do {
      let streams: [Observable<LifetimeTracked>] = [
        .empty(), .just(lifetimes.track()), .of(lifetimes.track(), lifetimes.track()),
        .of(lifetimes.track(), lifetimes.track(), lifetimes.track(), lifetimes.track()),
        .from([lifetimes.track()]),
      ]
      withExtendedLifetime(streams) {
        for stream in streams { stream.deliver(to: { _ in }, orStream: { _ in }) }
        #expect(lifetimes.alive == 8)
      }
    }
    #expect(lifetimes.alive == 0)
  }
}
