import TestSupport
import Testing

@testable import ReactorTesting

/// Tests of what a scheduler of virtual time keeps.
@Suite struct ActionQueueTests {
  /// As a timeout does that each element renews, while its own time is far.
  @Test func `cancelled actions of a far time do not add up`() {
    var queue = ActionQueue()
    for _ in 0..<10_000 {
      let number = queue.insert(at: 1_000_000) {}
      _ = queue.cancel(number)
      #expect(queue.cancel(number) == nil)
    }
    #expect(queue.heap.count <= 64)
    #expect(queue.nextTime() == nil)
    #expect(queue.heap.count == 0)
  }

  @Test func `those that are left keep their order when cancelled ones are dropped`() {
    var queue = ActionQueue()
    let record = Record<Int>()
    var generator = SystemRandomNumberGenerator()
    let times = (0..<2000).map { _ in Int.random(in: 0..<50, using: &generator) }
    let numbers = times.enumerated().map { index, time in queue.insert(at: time) { record.append(index) } }
    for (index, number) in numbers.enumerated() where index % 4 != 0 { _ = queue.cancel(number) }
    #expect(queue.heap.count <= 2 * 500 + 64)
    // The last one of its time.
    _ = queue.insert(at: 20) { record.append(2000) }
    while let next = queue.popFirst() { next.action() }
    let left = stride(from: 0, through: 2000, by: 4).map { ($0 == 2000 ? 20 : times[$0], $0) }
    #expect(record.elements == left.sorted { $0 < $1 }.map(\.1))
  }
}
