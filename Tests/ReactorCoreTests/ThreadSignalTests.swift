import ReactorCore
import TestSupport
import Testing

/// A signal for which one thread sleeps.
@Suite struct ThreadSignalTests {
  @Test func `a signal that came before the wait ends it at once`() {
    let signal = ThreadSignal()
    signal.signal()
    signal.signal()
    #expect(signal.wait(until: nil))
    #expect(signal.wait(until: .now - .seconds(1)))
  }

  @Test(arguments: [nil, Duration.seconds(3600), .seconds(1 << 40)])
  func `a thread sleeps until another one signals`(_ limit: Duration?) {
    let signal = ThreadSignal()
    let (begins, isSignaled) = (Gate(), Record<Bool>())
    let hasReturned = Threads.start {
      begins.open()
      isSignaled.append(signal.wait(until: limit.map { .now + $0 }))
    }
    #expect(begins.wait())
    #expect(!hasReturned.isOpen)
    signal.signal()
    #expect(hasReturned.wait())
    #expect(isSignaled.elements == [true])
  }

  @Test func `a deadline in the far past has passed`() {
    #expect(!ThreadSignal().wait(until: .now + Duration(attoseconds: .min)))
  }

  @Test func `a wait does not end before its deadline`() {
    for microseconds in [-1, 0, 1, 10, 500, 3000] {
      let deadline = ContinuousClock.now + .microseconds(microseconds)
      #expect(!ThreadSignal().wait(until: deadline))
      #expect(ContinuousClock.now >= deadline)
    }
  }
}
