import TestSupport
import Testing

@testable import ReactorCore

/// The slots behind an owned state: how many states they keep, and what happens when readers pin them.
@Suite struct OwnedStateSlotTests {
  @Test(arguments: CoreUnderTest.allCases)
  func statesAreBoundedAndReleased(_ core: CoreUnderTest) throws {
    func body<C: Core>(_: C.Type) throws {
      let lifetimes = Lifetimes()
      do {
        let state = try OwnedStateOn<C, LifetimeTracked>()
        #expect(state.tryStart { lifetimes.track() } == true)
        state.leave()
        #expect(lifetimes.alive == 1)
        for index in 1...100 {
          #expect(state.tryEnter() == true)
          state.change { $0 = lifetimes.track(index) }
          state.leave()
          #expect(state.read()?.value == index)
          #expect(lifetimes.alive <= snapshotSlotCount)
        }
        #expect(lifetimes.alive >= 1)
      }
      #expect(lifetimes.alive == 0)
      #expect(lifetimes.total == 101)
    }
    try body(core.type)
  }

  @Test(arguments: CoreUnderTest.allCases)
  func stateThatNeverStartedLeavesNothing(_ core: CoreUnderTest) throws {
    func body<C: Core>(_: C.Type) throws {
      _ = try OwnedStateOn<C, LifetimeTracked>()
    }
    try body(core.type)
  }

  @Test(arguments: CoreUnderTest.allCases)
  func pinnedSlotsAreNotOverwritten(_ core: CoreUnderTest) throws {
    func body<C: Core>(_: C.Type) throws {
      let state = try OwnedStateOn<C, Int>()
      #expect(state.tryStart { 0 } == true)
      state.leave()
      func change(to value: Int) {
        #expect(state.tryEnter() == true)
        state.change { $0 = value }
        state.leave()
      }
      // A reader stalls in the copy of each slot in turn; the owner always finds another one.
      for value in 1...20 {
        let pinned = state.raw.slot
        let before = state.slots[pinned]
        state.raw.pin(slot: pinned)
        change(to: value * 10)
        #expect(state.raw.slot != pinned)
        change(to: value * 10 + 1)
        #expect(state.slots[pinned] == before)
        #expect(state.read() == value * 10 + 1)
        state.raw.unpin(slot: pinned)
      }
    }
    try body(core.type)
  }

  @Test(arguments: CoreUnderTest.allCases)
  func ownerWaitsWhileEverySlotIsPinned(_ core: CoreUnderTest) throws {
    func body<C: Core>(_: C.Type) throws {
      let state = Shared(try OwnedStateOn<C, Int>())
      #expect(state.value.tryStart { 0 } == true)
      state.value.leave()
      for slot in 0..<snapshotSlotCount { state.value.raw.pin(slot: slot) }
      let isOwned = Gate()
      let isChanged = Gate()
      let isDone = Threads.start {
        _ = state.value.tryEnter()
        isOwned.open()
        state.value.change { $0 = 1 }
        isChanged.open()
        state.value.leave()
      }
      #expect(isOwned.wait())
      for _ in 0..<100 { DedicatedThread.yield() }
      #expect(!isChanged.isOpen)
      // Readers are not held up by it.
      #expect(state.value.read() == 0)
      // The shown slot is of no use to the owner; any other one is.
      let shown = state.value.raw.slot
      state.value.raw.unpin(slot: shown)
      for _ in 0..<100 { DedicatedThread.yield() }
      #expect(!isChanged.isOpen)
      let freed = (shown + 3) % snapshotSlotCount
      state.value.raw.unpin(slot: freed)
      #expect(isDone.wait())
      #expect(state.value.raw.slot == freed)
      #expect(state.value.read() == 1)
    }
    try body(core.type)
  }
}
