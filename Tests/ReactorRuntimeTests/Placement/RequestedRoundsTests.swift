import Testing

@testable import ReactorRuntime

/// Which calls a hosted loop requests for its timers. Times are in milliseconds.
@Suite struct RequestedRoundsTests {
  /// What a request for a deadline returns, in milliseconds.
  private func request(_ deadline: Double, at now: Double, of requested: inout RequestedRounds) -> Double? {
    requested.request(for: Int64(deadline * 1e6), at: Int64(now * 1e6)).map { Double($0) / 1e6 }
  }

  @Test func `a thousand short timers beside a long one request a thousand and one calls`() {
    var (requested, calls) = (RequestedRounds(), 0)
    let long = 60_000.0
    if request(long, at: 0, of: &requested) != nil { calls += 1 }
    for round in 0..<1000 {
      let now = Double(10 * round)
      if request(now + 10, at: now, of: &requested) != nil { calls += 1 }
      // The short one has run: the long one is the next.
      #expect(request(long, at: now + 10, of: &requested) == nil)
    }
    #expect(calls == 1001)
    #expect(requested.expected.count == 1)
  }

  @Test func `however often a loop becomes idle shortly before a deadline, three calls are requested`() {
    var requested = RequestedRounds()
    #expect(request(20, at: 0, of: &requested) == 20)
    var calls: [Double] = []
    for step in 1..<2000 {
      if let call = request(20, at: Double(step) / 100, of: &requested) { calls.append(call) }
    }
    // The last one comes so late that it cannot come before the deadline.
    #expect(calls == [20, 22])
  }

  @Test func `a call that comes too early is requested again`() {
    var requested = RequestedRounds()
    #expect(request(20, at: 0, of: &requested) == 20)
    #expect(request(20, at: 17, of: &requested) == nil)
    #expect(request(20, at: 18.5, of: &requested) == 20)
    #expect(request(20, at: 19, of: &requested) == 22)
    #expect(request(20, at: 19.9, of: &requested) == nil)
  }

  @Test func `a call is requested only if none is expected in time`() {
    var requested = RequestedRounds()
    #expect(request(100, at: 0, of: &requested) == 100)
    // The call at 100 requests it.
    #expect(request(200, at: 1, of: &requested) == nil)
    #expect(request(50, at: 2, of: &requested) == 50)
    #expect(request(30, at: 3, of: &requested) == 30)
    #expect(request(50, at: 30, of: &requested) == nil)
    #expect(request(100, at: 50, of: &requested) == nil)
    #expect(request(200, at: 100, of: &requested) == 200)
    // Due at once.
    #expect(request(101, at: 102, of: &requested) == 101)
  }

  /// Each timer is earlier than those before.
  @Test func `the calls that are remembered are bounded, and forgotten ones are requested again`() {
    var requested = RequestedRounds()
    let count = 10 * RequestedRounds.capacity
    for deadline in (1...count).reversed() {
      #expect(request(Double(10 * deadline), at: 0, of: &requested) == Double(10 * deadline))
      #expect(requested.expected.count <= RequestedRounds.capacity)
    }
    var again = 0
    for now in 1..<count {
      if request(Double(10 * now + 10), at: Double(10 * now), of: &requested) != nil { again += 1 }
    }
    #expect(again == count - RequestedRounds.capacity)
  }

  @Test func `a deadline that never comes is requested once`() {
    var requested = RequestedRounds()
    #expect(requested.request(for: .max, at: 0) == .max)
    #expect(requested.request(for: .max, at: 1_000_000_000) == nil)
  }
}
