import TestSupport
import Testing

@testable import ReactorCore

/// How long a consumer that has caught up waits.
@Suite struct PacerTests {
  @Test
  func `the wait grows while drains receive many elements and shrinks while they receive few`() {
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
    // Neither many nor few: the wait does not change.
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
