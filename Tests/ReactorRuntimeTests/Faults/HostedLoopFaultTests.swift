import FaultyPlatform
import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// A hosted loop whose calls to the system fail.
@Suite struct HostedLoopFaultTests {
  /// The poller is the C core's on both cores; the event count of the pure-Swift core wakes through a pair of sockets.
  static let descriptors =
    [FAULTY_TIMER_DESCRIPTOR, FAULTY_POLLER_DESCRIPTOR] + (Build.isPureSwift ? [] : [FAULTY_EVENT_DESCRIPTOR])

  private static func isReadable(_ hosted: HostedLoop) -> Bool {
    var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 0) == 1
  }

  /// Without the fence a sender may not see that the foreign loop is about to wait for the descriptor. So the descriptor
  /// stays readable.
  @Test(
    .disabled(if: Build.isPureSwift, "the pure-Swift core does not use membarrier"),
    arguments: [EPERM, ENOSYS])
  func `a refused fence keeps the foreign loop awake`(_ error: Int32) throws {
    defer { faulty_reset() }
    let hosted = try HostedLoop()
    let reactor = Script(on: hosted.placement)
    faulty_fail(FAULTY_MEMBARRIER, -1, error)
    // It is not refused where membarrier is not used at all.
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

  /// The loop is closed after its last round and before the event count is armed.
  @Test(.disabled(if: Build.isPureSwift, "the pure-Swift core does not read through the platform's table"))
  func `closing a hosted loop just before it rests is not missed`() throws {
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

  /// The system may refuse each descriptor that the loop needs.
  @Test(arguments: descriptors)
  func `a refused descriptor is an error`(_ call: faulty_call) throws {
    defer { faulty_reset() }
    let alive = faulty_alive_of_thread()
    faulty_fail(call, 1, EMFILE)
    #expect(throws: CoreError.noDescriptor) { _ = try HostedLoop() }
    #expect(faulty_alive_of_thread() == alive)
    _ = try HostedLoop()
    #expect(faulty_alive_of_thread() == alive)
  }

  @Test func `a hosted loop watches descriptors although its host has refused once`() throws {
    defer { faulty_reset() }
    let hosted = try HostedLoop()
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let calls = Record<Loop.Readiness>()
    func watch() throws {
      try hosted.loop.watch(ends[0], for: .readable) { watch, ready in
        calls.append(ready)
        watch.dispose()
      }
    }
    let alive = faulty_alive_of_thread()
    faulty_fail(FAULTY_POLLER_CONTROL, 1, ENOSPC)
    #expect(throws: WatchError.noDescriptor) { try watch() }
    #expect(faulty_alive_of_thread() == alive)
    try watch()
    #expect(hosted.run() == 0)
    #expect(write(ends[1], "x", 1) == 1)
    #expect(Self.isReadable(hosted))
    #expect(hosted.run() == 1)
    #expect(calls.elements == [.readable])
  }

  /// The system may refuse each addition of a descriptor to the poller.
  @Test(arguments: 0..<2)
  func `a refused watch is an error`(_ first: Int32) throws {
    defer { faulty_reset() }
    let alive = faulty_alive_of_thread()
    faulty_fail_later(FAULTY_POLLER_CONTROL, first, 1, ENOSPC)
    #expect(throws: CoreError.noDescriptor) { _ = try HostedLoop() }
    #expect(faulty_alive_of_thread() == alive)
    _ = try HostedLoop()
  }
}
