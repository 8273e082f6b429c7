import Foundation
import ReactorCore
import TestSupport
import Testing

/// Threads of one's own.
@Suite struct DedicatedThreadTests {
  @Test func `runs on another thread and is joined`() {
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
    // The closure went with its thread.
    #expect(lifetimes.alive == 0)
  }

  @Test(arguments: [("short", "short"), ("a-name-of-more-than-15-bytes", "a-name-of-more-"), ("", "")])
  func `name is cut to15 bytes`(_ name: (given: String, shown: String)) {
    let names = Record<String>()
    DedicatedThread(named: name.given) {
      names.append((try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "?")
    }.join()
    #expect(names.elements == [name.shown + "\n"])
  }

  @Test func `thread that is let go runs to its end`() {
    let isDone = Gate()
    _ = DedicatedThread(named: "gone") { isDone.open() }
    #expect(isDone.wait())
  }

  @Test func `processors`() {
    let mayEnd = Gate()
    let thread = DedicatedThread(named: "placed") { _ = mayEnd.wait() }
    #expect(thread.run(on: 0) == true)
    for invalid in [-1, 9999, Int.max, Int.min] { #expect(thread.run(on: invalid) == false) }
    mayEnd.open()
    thread.join()
  }

  @Test func `is current in its own body`() {
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
