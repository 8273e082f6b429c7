import TestSupport
import Testing

@testable import ReactorCore

/// The slots of an owned state: how many states they keep alive, and what happens when readers pin them.
@Suite struct OwnedStateSlotTests {
  @Test
  func `at most two states are alive without readers`() throws {
    let lifetimes = Lifetimes()
    do {
      let state = try OwnedState<LifetimeTracked>()
      #expect(state.tryInitialize { lifetimes.track() } == true)
      state.release()
      #expect(lifetimes.alive == 1)
      for index in 1...100 {
        #expect(state.tryAcquire() == true)
        state.change { $0 = lifetimes.track(index) }
        state.release()
        #expect(state.read()?.value == index)
        // The published state, and the one before it.
        #expect(lifetimes.alive <= 2)
      }
      #expect(lifetimes.alive >= 1)
    }
    #expect(lifetimes.alive == 0)
    #expect(lifetimes.total == 101)
  }

  @Test
  func `a state that never started destroys nothing`() throws {
    _ = try OwnedState<LifetimeTracked>()
  }

  @Test
  func `a pinned slot is not overwritten`() throws {
    let state = try OwnedState<Int>()
    #expect(state.tryInitialize { 0 } == true)
    state.release()
    func change(to value: Int) {
      #expect(state.tryAcquire() == true)
      state.change { $0 = value }
      state.release()
    }
    // A reader stops while it reads each slot in turn. The owner always finds another slot.
    for value in 1...20 {
      let pinned = state.raw.publishedSlot
      let before = state.place(of: pinned).pointee
      state.raw.pin(slot: pinned)
      change(to: value * 10)
      #expect(state.raw.publishedSlot != pinned)
      change(to: value * 10 + 1)
      #expect(state.place(of: pinned).pointee == before)
      #expect(state.read() == value * 10 + 1)
      state.raw.unpin(slot: pinned)
    }
  }

  /// A state that fits in registers is changed on its way from one slot to the next, and a wider one in the next slot.
  @Test
  func `a state of any width is changed beside the published one`() throws {
    try checkThatChangesAreBeside(0, \.self)
    try checkThatChangesAreBeside((0, 0, 0, 0), \.3)
    try checkThatChangesAreBeside((0, 0, 0, 0, 0), \.4)
    try checkThatChangesAreBeside(["first", "0"], \.numberOfSecond)
  }

  private func checkThatChangesAreBeside<State: Sendable>(
    _ initial: State, _ number: WritableKeyPath<State, Int>
  ) throws {
    let onePlace = try OwnedState<State>(inOnePlace: true)
    #expect(onePlace.tryInitialize { initial } == true)
    for _ in 0..<3 { onePlace.change { $0[keyPath: number] += 1 } }
    onePlace.release()
    #expect(onePlace.read()?[keyPath: number] == 3)

    let state = try OwnedState<State>()
    #expect(state.tryInitialize { initial } == true)
    state.release()
    // What other threads would read.
    var shown: Int { state.place(of: state.raw.publishedSlot).pointee[keyPath: number] }
    for turn in 0..<5 {
      #expect(state.tryAcquire() == true)
      for change in 1...3 {
        state.change { value in
          value[keyPath: number] += 1
          #expect(shown == turn * 3)
          #expect(state.read()?[keyPath: number] == turn * 3)
        }
        #expect(shown == turn * 3)
        #expect(state.read()?[keyPath: number] == turn * 3 + change)
      }
      state.release()
      #expect(shown == turn * 3 + 3)
    }
    try checkThatChangesAreBesidePins(of: state, number)
  }

  /// As above, while every slot is pinned: the changes are in the private slot.
  private func checkThatChangesAreBesidePins<State: Sendable>(
    of state: borrowing OwnedState<State>, _ number: WritableKeyPath<State, Int>
  ) throws {
    var pinned: [(slot: Int, number: Int)] = []
    for _ in 0..<snapshotSlotCount {
      let slot = state.raw.publishedSlot
      pinned.append((slot, state.place(of: slot).pointee[keyPath: number]))
      state.raw.pin(slot: slot)
      #expect(state.tryAcquire() == true)
      state.change { $0[keyPath: number] += 1 }
      state.release()
    }
    #expect(Set(pinned.map(\.slot)).count == snapshotSlotCount)
    let last = try #require(pinned.last).number
    for step in 2...3 {
      #expect(state.tryAcquire() == true)
      state.change { $0[keyPath: number] += 1 }
      let newest = state.current[keyPath: number]
      state.release()
      #expect(state.wasDeferredCount > 0)
      for pin in pinned { #expect(state.place(of: pin.slot).pointee[keyPath: number] == pin.number) }
      #expect(newest == last + step)
    }
    for pin in pinned { state.raw.unpin(slot: pin.slot) }
    #expect(state.tryAcquire() == true)
    state.release()
    #expect(state.read()?[keyPath: number] == last + 3)
  }

  #if DEBUG
    @Test(arguments: ["published", "released", "rescheduled", "read"])
    func `a debug build stops if the owner shows the state inside of a change`(_ way: String) async throws {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        [way = way as String] in
        let state = try OwnedState<Int>()
        _ = state.tryInitialize { 0 }
        state.change { _ in
          switch way {
          case "published": state.publish()
          case "released": state.release()
          case "rescheduled": state.reschedule()
          default: _ = state.current
          }
        }
      }
      let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("inside of a change"))
    }
  #endif

  @Test
  func `readers keep at most one state for each slot alive and only while they pin it`() throws {
    let lifetimes = Lifetimes()
    do {
      let state = try OwnedState<LifetimeTracked>()
      #expect(state.tryInitialize { lifetimes.track(0) } == true)
      state.release()
      func change(to value: Int) {
        #expect(state.tryAcquire() == true)
        state.change { $0 = lifetimes.track(value) }
        state.release()
      }
      // A reader stays in each state.
      var pins: [SnapshotPin] = []
      for value in 1..<snapshotSlotCount {
        pins.append(state.raw.pinPublished())
        change(to: value)
        #expect(state.wasHeldCount == value)
        #expect(state.read()?.value == value)
      }
      #expect(lifetimes.alive == snapshotSlotCount)
      for (value, pin) in pins.enumerated() {
        #expect(state.place(of: pin.slot).pointee.value == value)
        state.raw.unpin(pin)
      }
      #expect(state.wasHeldCount == 0)
      #expect(state.wasDeferredCount == 0)
      for value in 10..<13 {
        change(to: value)
        // The first change returns to the first slots, and leaves the one that was published until then.
        #expect(lifetimes.alive <= (value == 10 ? 3 : 2))
      }
    }
    #expect(lifetimes.alive == 0)
  }

  @Test(arguments: [false, true])
  func `the owner continues in its private slot while every slot is pinned`(_ isLarge: Bool) throws {
    func body<State: Sendable>(
      _ make: @escaping @Sendable (LifetimeTracked) -> State,
      _ value: @escaping @Sendable (borrowing State) -> Int
    ) throws {
      let lifetimes = Lifetimes()
      do {
        let state = try OwnedState<State>()
        #expect(state.tryInitialize { make(lifetimes.track(0)) } == true)
        state.release()
        func change(_ end: () -> Void) {
          #expect(state.tryAcquire() == true)
          state.change { $0 = make(lifetimes.track(value($0) + 1)) }
          end()
        }
        var pins: [SnapshotPin] = []
        for _ in 1...snapshotSlotCount {
          pins.append(state.raw.pinPublished())
          change { state.release() }
        }
        // Only the next owner sees the last change.
        let shown = snapshotSlotCount - 1
        #expect(state.withValue(value) == shown)
        #expect(state.wasDeferredCount == 1)
        change {
          #expect(value(state.current) == shown + 2)
          #expect(state.withValue(value) == shown + 2)
          state.publish()
          state.replace { make(lifetimes.track(value($0) + 1)) }
          state.reschedule()
        }
        state.acquireScheduled()
        #expect(value(state.current) == shown + 3)
        state.release()
        #expect(state.wasDeferredCount == 5 - 1)
        #expect(state.withValue(value) == shown)
        #expect(lifetimes.alive == snapshotSlotCount + 1)
        // With one free slot, the first owner that releases publishes it, without a change of its own.
        state.raw.unpin(pins.remove(at: 3))
        #expect(state.withValue(value) == shown)
        #expect(state.tryAcquire() == true)
        state.release()
        #expect(state.withValue(value) == shown + 3)
        #expect(state.wasHeldCount == snapshotSlotCount - 1)
        #expect(state.wasDeferredCount == 4)
        for pin in pins { state.raw.unpin(pin) }
        change { state.release() }
        #expect(state.withValue(value) == shown + 4)
        #expect(lifetimes.alive <= 2)
        // Again, to end with a state that was never published.
        for _ in 1...snapshotSlotCount {
          _ = state.raw.pinPublished()
          change { state.release() }
        }
        #expect(lifetimes.alive == snapshotSlotCount + 1)
      }
      #expect(lifetimes.alive == 0)
    }
    struct Large: Sendable {
      let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4, 5, 6, 7, 8)
      let tracked: LifetimeTracked
    }
    if isLarge {
      try body({ Large(tracked: $0) }, { $0.tracked.value })
    } else {
      try body({ $0 }, { $0.value })
    }
  }
}

extension [String] {
  fileprivate var numberOfSecond: Int {
    get { Int(self[1]) ?? -1 }
    set { self[1] = String(newValue) }
  }
}
