import FaultyPlatform
import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// A hosted loop on a system that refuses.
@Suite struct HostedLoopFaultTests {
  private static func isReadable(_ hosted: HostedLoop) -> Bool {
    var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 0) == 1
  }

  /// Without the fence, who sends may miss that the descriptor is waited for. So it is not waited for.
  @Test(arguments: [EPERM, ENOSYS])
  func `refused fence keeps the foreign loop awake`(_ error: Int32) throws {
    defer { faulty_reset() }
    let hosted = try HostedLoop()
    let reactor = Script(on: hosted.placement)
    faulty_fail(FAULTY_MEMBARRIER, -1, error)
    // Not where no membarrier is used at all.
    let isRefused = !CurrentCore.heavyFence()
    reactor.send(1)
    #expect(hosted.run() == 1)
    for _ in 0..<3 {
      #expect(Self.isReadable(hosted) == isRefused)
      #expect(hosted.run() == 0)
    }
    reactor.send(2)
    #expect(hosted.run() == 1)
    faulty_reset()
    #expect(hosted.run() == 0)
    #expect(!Self.isReadable(hosted))
    reactor.send(3)
    #expect(Self.isReadable(hosted))
    #expect(hosted.run() == 1)
    #expect(reactor.currentState == [1, 2, 3])
  }

  /// Between its last round and the moment from which who comes wakes it.
  @Test func `closing just before it rests is not missed`() throws {
    defer { faulty_reset() }
    let hosted = try HostedLoop()
    #expect(hosted.run() == 0)
    #expect(!Self.isReadable(hosted))
    faulty_before(
      FAULTY_READ,
      { loop in loop.map { Unmanaged<Loop>.fromOpaque($0).takeUnretainedValue().beginClosing() } },
      Unmanaged.passUnretained(hosted.loop).toOpaque())
    #expect(hosted.run() == 0)
    #expect(Self.isReadable(hosted) || hosted.loop.finishClosing(before: .now).isEmpty)
    hosted.run()
    #expect(hosted.loop.finishClosing(before: .now).isEmpty)
    #expect(hosted.run() == 0)
    #expect(!Self.isReadable(hosted))
  }

  /// Each descriptor that it needs, and each that it adds to another, may be refused.
  @Test(arguments: [FAULTY_EVENT_DESCRIPTOR, FAULTY_TIMER_DESCRIPTOR, FAULTY_POLLER_DESCRIPTOR])
  func `refused descriptor is an error`(_ call: faulty_call) throws {
    defer { faulty_reset() }
    let alive = faulty_alive_of_thread()
    faulty_fail(call, 1, EMFILE)
    #expect(throws: CoreError.noDescriptor) { _ = try HostedLoop() }
    #expect(faulty_alive_of_thread() == alive)
    _ = try HostedLoop()
    #expect(faulty_alive_of_thread() == alive)
  }

  @Test(arguments: 0..<2)
  func `refused watch is an error`(_ first: Int32) throws {
    defer { faulty_reset() }
    let alive = faulty_alive_of_thread()
    faulty_fail_later(FAULTY_POLLER_CONTROL, first, 1, ENOSPC)
    #expect(throws: CoreError.noDescriptor) { _ = try HostedLoop() }
    #expect(faulty_alive_of_thread() == alive)
    _ = try HostedLoop()
  }
}
