import Glibc
import ReactorCore
import TestSupport
import Testing

/// The kind that a foreign loop watches.
@Suite struct EventDescriptorTests {
  private func isReadable(_ descriptor: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 0) == 1 && watched.revents & Int16(POLLIN) != 0
  }

  @Test
  func `only this kind has a descriptor`() throws {
    #expect(try EventCount(.futex).descriptor == nil)
    let event = try EventCount(.descriptor)
    let descriptor = try #require(event.descriptor as Int32?)
    #expect(descriptor >= 0)
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
  }

  @Test
  func `readable once notified while armed`() throws {
    let event = try EventCount(.descriptor)
    let descriptor = try #require(event.descriptor as Int32?)
    // Nobody is armed: a notification costs no system call and leaves no trace.
    event.notify()
    #expect(!isReadable(descriptor))
    for _ in 0..<3 {
      #expect(event.arm { false } == true)
      #expect(event.wasArmed == true)
      #expect(!isReadable(descriptor))
      event.notify()
      #expect(isReadable(descriptor))
      #expect(event.wasArmed == false)
      event.notify()
      event.acknowledge()
      #expect(!isReadable(descriptor))
    }
  }

  @Test
  func `arming is refused when the condition holds`() throws {
    let event = try EventCount(.descriptor)
    let descriptor = try #require(event.descriptor as Int32?)
    #expect(event.arm { true } == false)
    #expect(!isReadable(descriptor))
    // A notification in between may have been for another one who armed it, so it stays.
    let isArmed = event.arm {
      event.notify()
      return true
    }
    #expect(!isArmed)
    event.acknowledge()
    #expect(!isReadable(descriptor))
    // The event count, and with it the descriptor, lives until its last use.
    #expect(event.descriptor == descriptor)
  }

  @Test
  func `poll wakes when another thread notifies`() throws {
    let event = Shared(try EventCount(.descriptor))
    let descriptor = try #require(event.value.descriptor as Int32?)
    for _ in 0..<50 {
      #expect(event.value.arm { false } == true)
      let isDone = Threads.start { event.value.notify() }
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&watched, 1, 20_000) == 1)
      event.value.acknowledge()
      #expect(isDone.wait())
    }
  }

  @Test
  func `descriptors are closed`() throws {
    func openDescriptors() throws -> Int {
      let directory = try #require(opendir("/proc/self/fd"))
      defer { closedir(directory) }
      var count = 0
      while readdir(directory) != nil { count += 1 }
      return count
    }
    let before = try openDescriptors()
    for _ in 0..<1000 {
      let event = try EventCount(.descriptor)
      event.notify()
    }
    // Other tests may have some open meanwhile, but not a thousand.
    #expect(try openDescriptors() < before + 500)
  }
}
