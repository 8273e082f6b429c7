import TestSupport
import Testing

@testable import ReactorCore

/// The only change of a turn: what it does, what others see of it, and when it is refused.
@Suite struct ChangeOnceTests {
  /// Becomes the owner of a state that uses two slots in turn, and is not changed by other tests.
  private func startedState<State: Sendable>(
    _ initial: State, inOnePlace hasOnePlace: Bool = false
  ) throws -> OwnedState<State> {
    let state = try OwnedState<State>(inOnePlace: hasOnePlace)
    #expect(state.tryInitialize { initial } == true)
    state.release()
    if hasOnePlace { return state }
    #expect(state.tryAcquire() == true)
    expectNone(state.slotToChangeOnce(as: .slots), "the first change finds a free slot")
    state.change { _ in }
    state.release()
    return state
  }

  private func required(_ slot: SlotToChange?) throws -> SlotToChange { try #require(slot) }

  private func expectNone(_ slot: SlotToChange?, _ comment: Comment? = nil) {
    #expect(slot.map { _ in true } == nil, comment)
  }

  private func release(_ slot: SlotToChange, of state: borrowing OwnedState<some Any>) {
    state.endChangeOnce(as: state.form)
    if !state.tryReleaseLightly(slot, as: state.form) { state.releaseHeavily(afterTurns: 1) }
  }

  @Test
  func `the change is made beside the published state and shown at the end of the turn`() throws {
    try checkChanges(0, \.self)
    try checkChanges((0, 0, 0, 0), \.3)
    try checkChanges((0, 0, 0, 0, 0), \.4)
  }

  private func checkChanges<State: Sendable>(_ initial: State, _ number: WritableKeyPath<State, Int>) throws {
    let state = try startedState(initial)
    var shown: Int { state.place(of: state.raw.publishedSlot).pointee[keyPath: number] }
    for turn in 0..<7 {
      #expect(state.tryAcquire() == true)
      let slot = try required(state.slotToChangeOnce(as: .slots))
      state.changeOnce(slot, as: .slots) { value in
        value[keyPath: number] += 1
        #expect((state.isChanging && state.isChangingInPlace) == true)
        // What other threads see, and the owner.
        #expect(shown == turn)
        #expect(state.read()?[keyPath: number] == turn)
      }
      #expect(state.isChanging == false)
      #expect(shown == turn)
      #expect(state.read()?[keyPath: number] == turn + 1)
      release(slot, of: state)
      #expect(state.isBusy == false)
      #expect(shown == turn + 1)
    }
    // Changes of the other kind go on from there.
    #expect(state.tryAcquire() == true)
    state.change { $0[keyPath: number] += 1 }
    state.change { $0[keyPath: number] += 1 }
    state.release()
    #expect(shown == 9)
  }

  @Test
  func `a turn that goes on shows its changes at its end`() throws {
    let state = try startedState(0)
    var shown: Int { state.place(of: state.raw.publishedSlot).pointee }
    for turn in 0..<5 {
      let published = state.raw.publishedSlot
      #expect(state.tryAcquire() == true)
      let slot = try required(state.slotToChangeOnce(as: .slots))
      state.changeOnce(slot, as: .slots) { $0 += 1 }
      state.endChangeOnce(as: .slots)
      state.continueTurn(as: .slots)
      expectNone(state.slotToChangeOnce(as: .slots), "the owner has made a change")
      state.change { value in
        value += 1
        #expect(state.read() == turn * 3)
      }
      #expect(shown == turn * 3)
      #expect(state.raw.publishedSlot == published)
      state.publish()
      #expect(shown == turn * 3 + 2)
      state.change { $0 += 1 }
      state.release()
      #expect(shown == turn * 3 + 3)
    }
  }

  @Test
  func `there is no slot while readers pin the one that would be next`() throws {
    let state = try startedState(0)
    func change(to value: Int, if isPossible: Bool) throws {
      #expect(state.tryAcquire() == true)
      guard let slot = state.slotToChangeOnce(as: .slots) else {
        #expect(!isPossible)
        state.change { $0 = value }
        return state.release()
      }
      #expect(isPossible)
      state.changeOnce(slot, as: .slots) { $0 = value }
      release(slot, of: state)
    }
    try change(to: 1, if: true)
    let pinned = state.raw.publishedSlot
    state.raw.pin(slot: pinned)
    try change(to: 2, if: true)
    // Now the pinned slot is the spare one.
    try change(to: 3, if: false)
    #expect(state.place(of: pinned).pointee == 1)
    state.raw.unpin(slot: pinned)
    #expect(state.read() == 3)
  }

  @Test
  func `there is no slot while the last state is deferred`() throws {
    let state = try startedState(0)
    var pinned: [Int] = []
    for value in 1...snapshotSlotCount {
      pinned.append(state.raw.publishedSlot)
      state.raw.pin(slot: state.raw.publishedSlot)
      #expect(state.tryAcquire() == true)
      state.change { $0 = value }
      state.release()
    }
    #expect(state.wasDeferredCount > 0)
    let published = state.raw.publishedSlot
    for slot in pinned where slot != published { state.raw.unpin(slot: slot) }
    #expect(state.tryAcquire() == true)
    expectNone(state.slotToChangeOnce(as: .slots))
    state.change { $0 += 1 }
    state.release()
    #expect(state.read() == snapshotSlotCount + 1)
    state.raw.unpin(slot: published)
  }

  @Test
  func `a state with one place is closed to readers during the change only`() throws {
    let state = Shared(try startedState([0], inOnePlace: true))
    for turn in 1...5 {
      #expect(state.value.tryAcquire() == true)
      let slot = try required(state.value.slotToChangeOnce(as: .onePlace))
      let (isChanging, hasRead) = (Gate(), Record<Int>())
      let reader = DedicatedThread(named: "reader") {
        _ = isChanging.wait()
        hasRead.append(state.value.read()?.last ?? -1)
      }
      state.value.changeOnce(slot, as: .onePlace) { numbers in
        #expect((state.value.isChanging && state.value.isChangingInPlace) == true)
        isChanging.open()
        numbers.append(turn)
        #expect(hasRead.elements.isEmpty)
      }
      state.value.endChangeOnce(as: .onePlace)
      #expect(state.value.isChanging == false)
      // The reader needs no more than the end of the change.
      reader.join()
      #expect(hasRead.elements == [turn])
      #expect(state.value.read() == Array(0...turn))
      release(slot, of: state.value)
      #expect(state.value.isBusy == false)
    }
  }
}
