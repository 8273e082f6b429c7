@testable import ReactorRuntime

extension Runtime {
  /// Lets senders that wait for room sleep after a few points, as they do when yielding has not helped before. Otherwise nearly
  /// all points of an execution are their yields. Before the threads of a scenario begin.
  func yieldSeldom() {
    // There is memory.
    let overflow = mailbox.ensureOverflow()!
    while !overflow.waiters.shouldSleep(after: RoomWait.pauses + 1) {
      // Halves how often they yield.
      overflow.waiters.sleep(RoomTicket(ofThread: true), until: nil) { true }
    }
  }
}
