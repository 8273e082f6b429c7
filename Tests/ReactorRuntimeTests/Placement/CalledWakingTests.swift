import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// When a hosted loop calls its foreign loop.
@Suite struct CalledWakingTests {
  private let calls = Record<String>()
  private let waking: CalledWaking
  private let hosted: HostedLoop

  init() throws {
    waking = CalledWaking(
      onTimer: { _, _ in }, onWake: { [calls] _ in calls.append("wake") },
      onRest: { [calls] _ in calls.append("rest") })
    hosted = try HostedLoop(name: "hosted", turnLimit: 1, jobCapacity: 16, calling: waking, isHost: nil)
  }

  @Test func `what is left is called for by the other closure`() {
    let reactor = Script(on: hosted.placement)
    for action in 0..<40 { reactor.send(action) }
    #expect(calls.elements == ["wake"])
    for _ in 0..<3 { hosted.run() }
    #expect(reactor.currentState == Array(0..<40))
    #expect(calls.elements == ["wake", "rest", "rest"])
    reactor.send(40)
    #expect(calls.elements == ["wake", "rest", "rest", "wake"])
    hosted.shutdown()
  }

  @Test func `a foreign loop that was called is not called again before its rounds begin`() {
    let reactor = Script(on: hosted.placement)
    reactor.send(1)
    // As at the end of rounds that nothing asked for.
    for _ in 0..<3 { waking.wakeAgain() }
    #expect(calls.elements == ["wake"])
    hosted.run()
    reactor.send(2)
    #expect(calls.elements == ["wake", "wake"])
    hosted.shutdown()
  }

  @Test func `a timer runs no rounds if the foreign loop was called`() {
    let reactor = Script(on: hosted.placement)
    for action in 0..<40 { reactor.send(action) }
    for _ in 0..<10 { hosted.runUnlessCalled() }
    #expect(reactor.currentState == [])
    #expect(calls.elements == ["wake"])
    // As if these rounds had ended, and something had come that called nobody.
    waking.beginRounds()
    hosted.runUnlessCalled()
    #expect(reactor.currentState.count == 16)
    #expect(calls.elements == ["wake", "rest"])
    hosted.shutdown()
  }
}
