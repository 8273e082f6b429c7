import Testing

@testable import ReactorRuntime

/// Tests that the count of a pulse rises with each assignment.
@Suite struct PulseTests {
  struct State: Sendable {
    @Pulse var value = 0
    @Pulse var items: [Int] = []
  }

  struct Refusal: Error {}

  @Test func `each assignment counts, even of an equal value`() {
    var state = State()
    #expect(state.$value.valueUpdatedCount == 0)
    for (count, value) in [10, 20, 20, 20, 30, 30].enumerated() {
      state.value = value
      #expect(state.value == value)
      #expect(state.$value.value == value)
      #expect(state.$value.valueUpdatedCount == UInt(count) + 1)
    }
    #expect(state.$items.valueUpdatedCount == 0)
  }

  @Test func `reading does not count`() {
    let state = State()
    _ = (state.value, state.$value, state.$value.value, state.items.count)
    #expect(state.$value.valueUpdatedCount == 0)
    #expect(state.$items.valueUpdatedCount == 0)
  }

  @Test func `a change in place counts once`() {
    var state = State()
    state.value += 1
    #expect(state.$value.valueUpdatedCount == 1)
    state.items.append(1)
    state.items[0] = 2
    #expect(state.items == [2])
    #expect(state.$items.valueUpdatedCount == 2)
    var pulse = Pulse(wrappedValue: [1])
    pulse.value.append(2)
    pulse.wrappedValue.append(3)
    #expect(pulse.value == [1, 2, 3])
    #expect(pulse.valueUpdatedCount == 2)
  }

  @Test func `a change in place does not copy`() {
    var state = State()
    state.items = Array(0..<100)
    let address = state.items.withUnsafeBufferPointer { $0.baseAddress }
    state.items[50] = -1
    #expect(state.items.withUnsafeBufferPointer { $0.baseAddress } == address)
  }

  @Test func `a change in place that throws counts`() {
    func fail(_ items: inout [Int]) throws {
      items.append(1)
      throw Refusal()
    }
    var state = State()
    #expect(throws: Refusal.self) { try fail(&state.items) }
    #expect(state.items == [1])
    #expect(state.$items.valueUpdatedCount == 1)
    var pulse = Pulse(wrappedValue: [Int]())
    #expect(throws: Refusal.self) { try fail(&pulse.value) }
    #expect(pulse.valueUpdatedCount == 1)
  }

  @Test func `the count wraps around to zero`() {
    var pulse = Pulse(wrappedValue: 0)
    pulse.valueUpdatedCount = .max
    pulse.value = 1
    #expect(pulse.valueUpdatedCount == 0)
    pulse.value = 2
    #expect(pulse.valueUpdatedCount == 1)
  }
}
