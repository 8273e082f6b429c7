import ReactorCore
import TestSupport
import Testing

/// The queue for what the owner sends to itself.
@Suite struct ReentrantQueueTests {
  @Test func `elements leave in the order in which they were added with their stamps`() {
    let queue = ReentrantQueue<Int>(limit: 100)
    #expect(queue.isEmpty == true)
    #expect(queue.firstStamp == nil)
    #expect(queue.removeFirst() == nil)
    for index in 0..<100 { #expect(queue.tryAppend(index, stamp: UInt64(index) * 3) == true) }
    for index in 0..<100 {
      #expect(queue.isEmpty == false)
      #expect(queue.firstStamp == UInt64(index) * 3)
      #expect(queue.removeFirst() == index)
    }
    #expect(queue.isEmpty == true)
    #expect(queue.firstStamp == nil)
    #expect(queue.removeFirst() == nil)
  }

  @Test(arguments: [1, 3, 16, 17, 100])
  func `a queue holds no more elements than its limit`(_ limit: Int) {
    let queue = ReentrantQueue<Int>(limit: limit)
    for round in 0..<3 {
      for index in 0..<limit { #expect(queue.tryAppend(round * 100 + index, stamp: 0) == true) }
      #expect(queue.tryAppend(-1, stamp: 0) == false)
      #expect(queue.removeFirst() == round * 100)
      #expect(queue.tryAppend(-2, stamp: 0) == true)
      #expect(queue.tryAppend(-3, stamp: 0) == false)
      for index in 1..<max(1, limit) { #expect(queue.removeFirst() == round * 100 + index) }
      #expect(queue.removeFirst() == -2)
      #expect(queue.isEmpty == true)
    }
  }

  @Test func `a queue keeps its order when it grows`() {
    // The first element is at each index of the first block in turn; then the queue grows to several times its size.
    for offset in 0..<16 {
      let queue = ReentrantQueue<Int>(limit: .max)
      for index in 0..<offset {
        #expect(queue.tryAppend(index, stamp: 0) == true)
        #expect(queue.removeFirst() == index)
      }
      for index in 0..<200 { #expect(queue.tryAppend(index, stamp: UInt64(index)) == true) }
      for index in 0..<200 {
        #expect(queue.firstStamp == UInt64(index))
        #expect(queue.removeFirst() == index)
      }
    }
  }

  @Test func `each element is destroyed exactly once`() {
    let lifetimes = Lifetimes()
    do {
      let queue = ReentrantQueue<LifetimeTracked>(limit: 64)
      for index in 0..<40 { #expect(queue.tryAppend(lifetimes.track(index), stamp: 0) == true) }
      for index in 0..<10 { #expect(queue.removeFirst()?.value == index) }
      #expect(lifetimes.alive == 30)
      for index in 0..<34 { #expect(queue.tryAppend(lifetimes.track(index), stamp: 0) == true) }
      #expect(queue.tryAppend(lifetimes.track(), stamp: 0) == false)
      #expect(lifetimes.alive == 64)
    }
    #expect(lifetimes.alive == 0)
    #expect(lifetimes.total == 75)
  }
}
