import Glibc
import ReactorCore
import TestSupport
import Testing

/// The kind of event count that has a descriptor for a foreign loop.
@Suite struct EventDescriptorTests {
  private func isReadable(_ descriptor: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 0) == 1 && watched.revents & Int16(POLLIN) != 0
  }

  @Test
  func `only this kind of event count has a descriptor`() throws {
    #expect(try EventCount(.futex).descriptor == nil)
    let event = try EventCount(.descriptor)
    let descriptor = try #require(event.descriptor as Int32?)
    #expect(descriptor >= 0)
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
  }

  @Test
  func `a notification makes the descriptor of an armed event count readable`() throws {
    let event = try EventCount(.descriptor)
    let descriptor = try #require(event.descriptor as Int32?)
    // Not armed: a notification makes no system call and changes nothing.
    event.notify()
    #expect(!isReadable(descriptor))
    for _ in 0..<3 {
      #expect(event.arm { false } == true)
      #expect(event.mustNotify == true)
      #expect(!isReadable(descriptor))
      event.notify()
      #expect(isReadable(descriptor))
      #expect(event.mustNotify == false)
      event.notify()
      event.acknowledge()
      #expect(!isReadable(descriptor))
    }
  }

  @Test
  func `arm returns false if the condition holds`() throws {
    let event = try EventCount(.descriptor)
    let descriptor = try #require(event.descriptor as Int32?)
    #expect(event.arm { true } == false)
    #expect(!isReadable(descriptor))
    // A notification in between may have been for another thread that armed it, so the descriptor stays readable.
    let isArmed = event.arm {
      event.notify()
      return true
    }
    #expect(!isArmed)
    event.acknowledge()
    #expect(!isReadable(descriptor))
    // This use keeps the event count, and so the descriptor, alive until here.
    #expect(event.descriptor == descriptor)
  }

  @Test
  func `poll returns when another thread notifies`() throws {
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
  func `an event count closes its descriptor`() throws {
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
    // Other tests may open some descriptors at the same time, but not a thousand.
    #expect(try openDescriptors() < before + 500)
  }
}
