import ControlledScheduler
import Glibc
import ReactorCore

/// A thread of a body.
final class Worker: @unchecked Sendable {
  // Unchecked: one thread runs at a time.
  private var thread: DedicatedThread?

  init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    thread = DedicatedThread(named: name, body)
  }

  /// Waits until the thread has ended.
  func join() { thread.take()?.join() }
}

/// Runs each body on a thread of its own, and waits for all of them, and for the threads that the library made to run
/// turns.
func together(_ bodies: @Sendable () -> Void...) {
  let workers = bodies.enumerated().map { Worker("worker-\($0)", $1) }
  for worker in workers { worker.join() }
  awaitRest()
}

/// Waits until no other thread can run. A sender that has processed enough leaves the rest to a new thread, which nobody can
/// join, and loops have threads of their own. They have ended, or sleep for longer than any scenario does, when the calling
/// thread is the only one that the clock can wake.
func awaitRest() { sleep(.seconds(60)) }

/// Lets so much virtual time pass for the calling thread, which sleeps meanwhile.
func sleep(_ duration: Duration) {
  // There is memory.
  let never = try! EventCount()
  _ = never.wait(timeoutNanoseconds: duration.nanoseconds) { false }
}

/// Fails the execution unless `holds` is true. A controlled thread.
func check(
  _ holds: Bool, _ text: @autoclosure () -> String, file: StaticString = #fileID, line: UInt32 = #line
) {
  if !holds { ctl_fail("\(file):\(line): \(text())") }
}

/// Whether a descriptor is readable now.
func isReadable(_ descriptor: Int32) -> Bool {
  var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&watched, 1, 0) > 0
}
