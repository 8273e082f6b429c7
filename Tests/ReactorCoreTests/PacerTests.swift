import TestSupport
import Testing

@testable import ReactorCore

/// How long a consumer that caught up is patient.
@Suite struct PacerTests {
  @Test
  func `waits longer while much comes and less while little does`() {
    var pacer = Pacer()
    #expect(pacer.pauses == 0)
    pacer.wait(afterReceiving: 1)
    #expect(pacer.pauses == 0)
    var last = 0
    for _ in 0..<10 {
      pacer.wait(afterReceiving: 100)
      #expect(pacer.pauses > last || pacer.pauses == Pacer.longest)
      last = pacer.pauses
    }
    #expect(pacer.pauses == Pacer.longest)
    // Neither much nor little: it stays.
    pacer.wait(afterReceiving: 8)
    #expect(pacer.pauses == Pacer.longest)
    for _ in 0..<10 {
      pacer.wait(afterReceiving: 1)
      #expect(pacer.pauses < last || pacer.pauses == 0)
      last = pacer.pauses
    }
    #expect(pacer.pauses == 0)
  }
}
