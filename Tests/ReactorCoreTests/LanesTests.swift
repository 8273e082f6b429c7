import ReactorCore
import TestSupport
import Testing

/// Registration, order, and the parameters of a drain.
@Suite struct LanesTests {
  @Test
  func `invalid arguments throw the error that names them`() {
    func expect(_ error: CoreError, limit: Int, capacity: Int) {
      #expect(throws: error) { _ = try Lanes<Int>(limit: limit, capacity: capacity) }
    }
    expect(.laneCountIsInvalid, limit: 0, capacity: 8)
    expect(.laneCountIsInvalid, limit: -1, capacity: 8)
    expect(.laneCountIsInvalid, limit: 1025, capacity: 8)
    expect(.laneCountIsInvalid, limit: .max, capacity: 8)
    expect(.capacityIsZero, limit: 1, capacity: 0)
    expect(.capacityIsZero, limit: 1, capacity: -8)
    expect(.capacityIsNotAPowerOfTwo, limit: 1, capacity: 3)
    expect(.capacityIsNotAPowerOfTwo, limit: 1, capacity: .max)
    expect(.capacityIsTooLarge, limit: 1, capacity: 1 << 32)
    #expect(throws: CoreError.elementIsTooLarge) {
      _ = try Lanes<InlineArray<1_048_577, UInt8>>(limit: 1, capacity: 2)
    }
  }

  @Test(arguments: [1, 2, 4, 64])
  func `a lane reports full truthfully and keeps the order`(_ capacity: Int) throws {
    let lanes = try Lanes<Int>(limit: 1, capacity: capacity)
    var producer = try lanes.register()
    for index in 0..<capacity { #expect(producer.trySend(index).isAccepted) }
    for next in capacity..<capacity * 3 {
      guard case .full(let refused) = producer.trySend(next) else {
        Issue.record("a full lane accepted \(next)")
        return
      }
      #expect(refused == next)
      #expect(lanes.received(upTo: 1) == [next - capacity])
      #expect(producer.trySend(next).isAccepted)
    }
    #expect(lanes.received() == Array(capacity * 2..<capacity * 3))
  }

  @Test(arguments: [1, 2, 64, 1024])
  func `no more producers than the limit are registered`(_ limit: Int) throws {
    /// Holds `count` registrations at the same time, then tries one more.
    func exhaust(_ lanes: Lanes<Int>, _ count: Int) throws {
      if count == 0 {
        #expect(throws: CoreError.lanesExhausted) { _ = try lanes.register() }
        return
      }
      var producer = try lanes.register()
      #expect(producer.trySend(count).isAccepted)
      try exhaust(lanes, count - 1)
    }
    let lanes = try Lanes<Int>(limit: limit, capacity: 2)
    try exhaust(lanes, limit)
    // All handles are destroyed, but nothing was received yet, so no lane is free.
    #expect(throws: CoreError.lanesExhausted) { _ = try lanes.register() }
    #expect(lanes.received() == Array((1...limit).reversed()))
    #expect(lanes.received() == [])
    try exhaust(lanes, limit)
  }

  @Test
  func `the lane of a destroyed handle becomes free once it is empty`() throws {
    let lanes = try Lanes<Int>(limit: 1, capacity: 4)
    for round in 0..<1000 {
      do {
        var producer = try lanes.register()
        #expect(producer.trySend(round * 2).isAccepted)
        #expect(producer.trySend(round * 2 + 1).isAccepted)
        if round % 2 == 0 { #expect(lanes.received(upTo: 1) == [round * 2]) }
      }
      #expect(throws: CoreError.lanesExhausted) { _ = try lanes.register() }
      let left = round % 2 == 0 ? [round * 2 + 1] : [round * 2, round * 2 + 1]
      #expect(lanes.received() == left)
      // The drain that finds the lane closed and empty frees it.
      #expect(lanes.received() == [])
    }
  }

  @Test
  func `a free lane is used again before a new one is added`() throws {
    let lanes = try CurrentCore.Lanes(limit: 8, capacity: 2, size: 8, alignment: 8, startingAt: 0)
    defer { lanes.destroy() }
    var memory: Set<UnsafeMutableRawPointer> = []
    for _ in 0..<100 {
      var producer = try lanes.register()
      let slot = producer.tryClaim()
      producer.publish()
      producer.close()
      let lane = lanes.lane(0)
      #expect(lane.ready() == 1)
      #expect(lane.payload(lane.head) == slot)
      memory.insert(lane.payload(0))
      lane.release(lane.head + 1)
      lane.recycle()
    }
    #expect(lanes.count == 1)
    #expect(memory.count == 1)
  }

  @Test
  func `an open lane is not recycled`() throws {
    let lanes = try Lanes<Int>(limit: 1, capacity: 4)
    var producer = try lanes.register()
    for _ in 0..<3 { #expect(lanes.received() == []) }
    #expect(throws: CoreError.lanesExhausted) { _ = try lanes.register() }
    #expect(producer.trySend(1).isAccepted)
    #expect(lanes.received() == [1])
  }

  @Test
  func `a drain visits the lanes in turn within its share and limit`() throws {
    let lanes = try Lanes<Int>(limit: 3, capacity: 16)
    var first = try lanes.register()
    var second = try lanes.register()
    var third = try lanes.register()
    for index in 0..<5 {
      #expect(first.trySend(10 + index).isAccepted)
      #expect(second.trySend(20 + index).isAccepted)
      #expect(third.trySend(30 + index).isAccepted)
    }
    #expect(lanes.received(upTo: 0) == [])
    #expect(lanes.received(upTo: -1) == [])
    #expect(lanes.received(share: 0) == [])
    // At most `share` elements of each lane before the next, round after round, up to the limit.
    #expect(lanes.received(upTo: 5, share: 2) == [10, 11, 20, 21, 30])
    #expect(lanes.received(upTo: 3, share: 1) == [12, 22, 31])
    #expect(lanes.received(upTo: 1) == [13])
    // A drain continues with the lane after the one at which the last drain stopped.
    #expect(lanes.received() == [23, 24, 32, 33, 34, 14])
    #expect(lanes.received(share: 1) == [])
  }

  @Test
  func `lanes keep the order of each producer`() throws {
    let lanes = try Lanes<Int>(limit: 4, capacity: 16)
    let each = 3000
    let isDone = Threads.start {
      _ = Threads.run(4) { producer in
        guard var lane = try? lanes.register() else { return }
        for index in 0..<each {
          while !lane.trySend(producer * each + index).isAccepted { DedicatedThread.yield() }
        }
      }
    }
    var next = (0..<4).map { $0 * each }
    var violations = 0
    var received = 0
    let isComplete = Threads.yield {
      received += lanes.drain { element in
        if next[element / each] != element { violations += 1 }
        next[element / each] = element + 1
      }
      return received == 4 * each
    }
    #expect(isComplete)
    #expect(isDone.wait())
    #expect(violations == 0)
  }
}
