import Glibc
import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// A thread that hosts loops, and waits for something else than their descriptors.
@Suite struct HostWaitTests {
  @Test func `what a round leaves while the host waits for room makes the descriptor readable`() throws {
    let hosted = try HostedLoop(turnLimit: 1)
    let reactor = Script(on: hosted.placement)
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    let watch = try hosted.loop.watch(reading, for: .readable) { _, _ in
      var byte: UInt8 = 0
      if read(reading, &byte, 1) == 1 { for action in 1...3 { reactor.send(action) } }
    }
    while isReadable(hosted.descriptor) { hosted.run() }
    #expect(write(writing, [1], 1) == 1)
    // As a thread does that waits for room in the mailbox of another loop.
    #expect(HostThread.runRounds() ?? 0 > 0)
    #expect(!isReadable(reading))
    #expect(isReadable(hosted.descriptor))
    while isReadable(hosted.descriptor) { hosted.run() }
    #expect(reactor.currentState == [1, 2, 3])
    watch.dispose()
    hosted.shutdown()
    close(reading)
    close(writing)
  }

  @Test func `the host waits for the end of its reactors and of its loop without waiting for itself`() throws
  {
    let hosted = try HostedLoop(turnLimit: 1)
    let first = Script(on: hosted.placement)
    let second = Script(on: hosted.placement)
    for action in 0..<100 {
      first.send(action)
      second.send(action)
    }
    first.close()
    // Only a failure takes so long.
    #expect(first.waitUntilEnded(before: .now + .seconds(60)))
    #expect(first.currentState.count == 100)
    try Shutdown.close([second.closer(), hosted.loop], before: .now + .seconds(60))
    #expect(second.currentState.count == 100)
    #expect(hosted.loop.state.hasEnded)
  }

  @Test func `the host of keyed reactors waits for their ends without waiting for itself`() throws {
    let hosted = try HostedLoop()
    let keyed = KeyedReactors<Int, Script>(make: { _ in Script(on: hosted.placement) })
    for key in 0..<10 { keyed.send(1, to: key) }
    try Shutdown.close([keyed], before: .now + .seconds(60))
    #expect(keyed.counters.count == 0)
  }

  @Test func `a host that waits for room sleeps between rounds that do nothing`() throws {
    let hosted = try HostedLoop()
    let reactor = Script(on: hosted.placement, capacity: 8)
    reactor.send(1)
    hosted.run()
    // Scheduled, but not on the loop, like a durable reactor that waits until its journal has room.
    let isScheduled = reactor.runtime.state.trySchedule()
    #expect(isScheduled)
    for action in 2...9 { try reactor.trySend(action) }
    let before = processorTime
    #expect(throws: SendError.timedOut) { try reactor.send(10, before: .now + .milliseconds(400)) }
    #expect(processorTime - before < .milliseconds(200))
    #expect(hosted.loop.state.submit(reactor.runtime.makeLoopReactor(reactor)))
    hosted.run()
    #expect(reactor.currentState == Array(1...9))
    hosted.shutdown()
  }

  private func isReadable(_ descriptor: Int32) -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) == 1
  }
}
