import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// The order of a loop's timers.
@Suite struct TimerHeapTests {
  @Test
  func `timers keep their order when others are removed from among them`() {
    let cancelled = CancelledTimers()
    for count in 0..<40 {
      // Each third one is removed. Many have the same time.
      let deadlines = (0..<count).map { Int64(($0 * 7919 + count) % 23) }
      var heap = TimerHeap()
      for deadline in deadlines { heap.insert(LoopTimer(at: deadline, countedBy: cancelled) {}) }
      #expect(heap.remove { $0.deadline % 3 == 0 } == deadlines.count { $0 % 3 == 0 })
      var left: [Int64] = []
      while let timer = heap.removeFirst(dueBy: .max) { left.append(timer.deadline) }
      #expect(left == deadlines.filter { $0 % 3 != 0 }.sorted())
    }
  }
}
