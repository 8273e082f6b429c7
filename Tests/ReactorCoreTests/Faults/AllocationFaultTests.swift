import FaultyPlatform
import TestSupport
import Testing

@testable import ReactorCore

/// Lets the n-th allocation fail, for every n until none does. Each failure throws an error, leaks nothing, and can be
/// repeated.
@Suite struct AllocationFaultTests {
  /// Calls `make`, which destroys what it created, with memory for 0, 1, … allocations, until it succeeds.
  ///
  /// - Returns: How often it failed.
  private func failures(of make: () throws(CoreError) -> Void) -> Int {
    defer { faulty_reset() }
    let alive = faulty_alive_of_thread()
    for allowed in 0..<100 {
      faulty_fail_allocations_after(Int32(allowed))
      do {
        try make()
        #expect(faulty_alive_of_thread() == alive)
        return allowed
      } catch {
        #expect(error == .outOfMemory)
        #expect(faulty_alive_of_thread() == alive)
      }
    }
    return .max
  }

  @Test(.needsCCore)
  func `a creation without memory throws and leaks nothing`() {
    // A ring of few slots is one block.
    #expect(failures { () throws(CoreError) in _ = try Ring<Int>(capacity: 8) } == 1)
    #expect(failures { () throws(CoreError) in _ = try Ring<Int>(capacity: 16) } == 2)
    #expect(failures { () throws(CoreError) in _ = try Lanes<Int>(limit: 4, capacity: 8) } == 2)
    #expect(failures { () throws(CoreError) in _ = try EventCount(.futex) } == 1)
    #expect(failures { () throws(CoreError) in _ = try EventCount(.descriptor) } == 1)
    #expect(failures { () throws(CoreError) in _ = try Trampoline() } == 1)
    #expect(failures { () throws(CoreError) in _ = try OwnedState<Int>() } == 1)
    #expect(failures { () throws(CoreError) in _ = try EventCountTable() } == EventCountTable.count)
  }

  /// The memory of each lane is allocated for its first producer.
  @Test(.needsCCore)
  func `a registration without memory throws and leaves the lane free`() throws {
    defer { faulty_reset() }
    let limit = 3
    let lanes = try Lanes<Int>(limit: limit, capacity: 4)
    func register(_ index: Int) throws {
      if index == limit { return }
      faulty_fail_allocations_after(0)
      for _ in 0..<2 * limit { #expect(throws: CoreError.outOfMemory) { _ = try lanes.register() } }
      faulty_fail_allocations_after(-1)
      var producer = try lanes.register()
      let isAccepted = producer.trySend(index).isAccepted
      #expect(isAccepted)
      #expect(lanes.received() == [index])
      try register(index + 1)
    }
    try register(0)
    // All lanes were in use, and keep their memory.
    #expect(lanes.received() == [])
    faulty_fail_allocations_after(0)
    _ = try lanes.register()
  }

  @Test(.needsCCore)
  func `a registration goes on to a later lane if there is no memory for the first one`() throws {
    faulty_reset()
    defer { faulty_reset() }
    let lanes = try Lanes<Int>(limit: 2, capacity: 4)
    faulty_fail_allocations(1)
    for round in 1...2 {
      var producer = try lanes.register()
      let isAccepted = producer.trySend(round).isAccepted
      #expect(isAccepted)
      #expect(lanes.received() == [round])
      // The first lane is free, but there is no memory for it, and the second is taken.
      faulty_fail_allocations_after(0)
      #expect(throws: CoreError.outOfMemory) { _ = try lanes.register() }
      _ = consume producer
      // Recycles the second lane, which keeps its memory: the next round gets that one.
      #expect(lanes.received() == [])
    }
    faulty_reset()
    let first = try lanes.register()
    let second = try lanes.register()
    #expect(throws: CoreError.lanesExhausted) { _ = try lanes.register() }
    _ = consume first
    _ = consume second
  }

  /// More memory than an address space has is refused without a seeded fault, so this also tests the twin.
  @Test(.disabled(if: Build.isSanitized, "a sanitizer stops the program"))
  func `a request for too much memory throws`() throws {
    #expect(throws: CoreError.outOfMemory) { _ = try Ring<Megabyte>(capacity: 1 << 31) }
    let lanes = try Lanes<Megabyte>(limit: 2, capacity: 1 << 31)
    // The lane is free again after each failure.
    for _ in 0..<5 { #expect(throws: CoreError.outOfMemory) { _ = try lanes.register() } }
    var received = 0
    _ = lanes.drain { _ in received += 1 }
    #expect(received == 0)
  }
}

/// The largest element that is allowed.
private struct Megabyte: Sendable {
  var bytes: InlineArray<1_048_576, UInt8>
}
