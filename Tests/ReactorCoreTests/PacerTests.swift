import TestSupport
import Testing

@testable import ReactorCore

/// How long a consumer that caught up is patient.
@Suite struct PacerTests {
  @Test(arguments: CoreUnderTest.allCases)
  func waitsLongerWhileMuchComesAndLessWhileLittleDoes(_ core: CoreUnderTest) {
    func body<C: Core>(_: C.Type) {
      var pacer = Pacer<C>()
      #expect(pacer.pauses == 0)
      pacer.wait(afterReceiving: 1)
      #expect(pacer.pauses == 0)
      var last = 0
      for _ in 0..<10 {
        pacer.wait(afterReceiving: 100)
        #expect(pacer.pauses > last || pacer.pauses == Pacer<C>.longest)
        last = pacer.pauses
      }
      #expect(pacer.pauses == Pacer<C>.longest)
      // Neither much nor little: it stays.
      pacer.wait(afterReceiving: 8)
      #expect(pacer.pauses == Pacer<C>.longest)
      for _ in 0..<10 {
        pacer.wait(afterReceiving: 1)
        #expect(pacer.pauses < last || pacer.pauses == 0)
        last = pacer.pauses
      }
      #expect(pacer.pauses == 0)
    }
    body(core.type)
  }
}
