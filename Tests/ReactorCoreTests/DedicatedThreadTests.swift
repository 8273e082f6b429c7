import Foundation
import ReactorCore
import TestSupport
import Testing

/// Starting, joining, naming and placing a dedicated thread.
@Suite struct DedicatedThreadTests {
  @Test func `the body runs on another thread and is released with it`() {
    let tokens = Record<UInt64>()
    let lifetimes = Lifetimes()
    do {
      let tracked = lifetimes.track(5)
      let thread = DedicatedThread(named: "one") {
        tokens.append(CurrentCore.threadToken)
        _ = tracked.value
      }
      #expect(thread.isCurrent == false)
      thread.join()
    }
    #expect(tokens.elements.count == 1)
    #expect(tokens.elements.first != CurrentCore.threadToken)
    // The thread has released its closure.
    #expect(lifetimes.alive == 0)
  }

  @Test(arguments: [("short", "short"), ("a-name-of-more-than-15-bytes", "a-name-of-more-"), ("", "")])
  func `a thread's name is cut to 15 bytes`(_ name: (given: String, shown: String)) {
    let names = Record<String>()
    DedicatedThread(named: name.given) {
      names.append((try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "?")
    }.join()
    #expect(names.elements == [name.shown + "\n"])
  }

  @Test func `a detached thread runs to its end`() {
    let isDone = Gate()
    _ = DedicatedThread(named: "gone") { isDone.open() }
    #expect(isDone.wait())
  }

  @Test func `a thread is bound only to a processor that exists`() {
    let mayEnd = Gate()
    let thread = DedicatedThread(named: "placed") { _ = mayEnd.wait() }
    #expect(thread.run(on: 0) == true)
    for invalid in [-1, 9999, Int.max, Int.min] { #expect(thread.run(on: invalid) == false) }
    mayEnd.open()
    thread.join()
  }

  @Test func `a thread is current in its own body`() {
    final class Box: @unchecked Sendable {
      // Unchecked: written before the gate opens, read after.
      var thread: Shared<DedicatedThread>?
    }
    let box = Box()
    let isKnown = Gate()
    let seen = Record<Bool?>()
    let isDone = Gate()
    box.thread = Shared(
      DedicatedThread(named: "self") {
        _ = isKnown.wait()
        seen.append(box.thread?.value.isCurrent)
        isDone.open()
      })
    isKnown.open()
    #expect(isDone.wait())
    #expect(seen.elements == [true])
    box.thread = nil
  }
}
