import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// The handlers that a program may replace.
@Suite struct HookTests {
  private struct Expected: Error {}

  /// Each read once wrapped the handler in a thunk and kept it: a call after 130,000 reads overflowed the stack.
  @Test func `a handler that is read very often can still be called`() {
    for _ in 0..<300_000 {
      _ = Hooks.defaultErrorHandler
      _ = Hooks.defaultFailureHandler
      _ = Hooks.warningHandler
    }
    // Writes to standard error.
    Hooks.defaultErrorHandler(Expected())
    Hooks.warningHandler(Warning(.longTurn, "HookTests", on: nil, "This is no problem."))
  }

  /// The runtime of a reactor without a handler of its own reads the hook for each refusal.
  @Test func `a closed reactor refuses very many actions through the default handler`() {
    final class Refusing: Reactor {
      let initialState = 0
      let runtime = Runtime<Int, Int, Int>(on: .caller)
      func reduce(into state: inout Int, mutation: Int) { state += mutation }
    }
    let reactor = Refusing()
    reactor.close()
    for _ in 0..<150_000 { reactor.send(1) }
    #expect(reactor.currentState == 0)
    #expect(reactor.isClosed)
  }
}
