import Synchronization
import TestSupport
import Testing

@testable import ReactorCore

/// A replayed state: the owner brings a state up to date that readers have left, and copies only where it cannot.
@Suite struct ReplayedStateTests {
  /// A state that is the list of its mutations, and counts how often they were applied.
  private final class Subject: Sendable {
    struct Value: Sendable {
      var numbers: [Int] = []
      let tracked: LifetimeTracked
    }

    let state: OwnedState<Value>
    let states: Lifetimes
    let mutations: Lifetimes
    let applied = Atomic(0)

    init(
      _ first: [Int] = [], states: Lifetimes = Lifetimes(), mutations: Lifetimes = Lifetimes()
    ) throws {
      self.states = states
      self.mutations = mutations
      state = try OwnedState(replaying: LifetimeTracked.self)
      let isFirst = state.tryInitialize { Value(numbers: first, tracked: states.track()) }
      #expect(isFirst == true)
      state.release()
    }

    /// A change inside of a turn.
    func change(_ number: Int) {
      state.change(byReplaying: mutations.track(number)) { value, mutation in
        value.numbers.append(mutation.value)
        applied.add(1, ordering: .relaxed)
      }
    }

    func turn(_ numbers: Int...) {
      #expect(state.tryAcquire() == true)
      for number in numbers { change(number) }
      state.release()
    }

    var numbers: [Int]? { state.withValue { $0.numbers } }
    var appliedCount: Int { applied.load(ordering: .relaxed) }
    func numbers(in pin: SnapshotPin) -> [Int] { state.place(of: pin.slot).pointee.numbers }
  }

  @Test
  func `each mutation is applied to two states, and the state is copied once`() throws {
    let (states, mutations) = (Lifetimes(), Lifetimes())
    do {
      let subject = try Subject(states: states, mutations: mutations)
      for number in 0..<100 {
        subject.turn(2 * number, 2 * number + 1)
        #expect(subject.numbers == Array(0..<2 * number + 2))
        #expect(subject.state.wasCopiedCount == 1)
        // Those of the last turn, which the earlier state lacks.
        #expect(mutations.alive == 2)
      }
      // The last turn's were applied once.
      #expect(subject.appliedCount == 2 * 200 - 2)
    }
    #expect(states.alive == 0)
    #expect(mutations.alive == 0)
  }

  @Test
  func `a turn that publishes in between loses nothing`() throws {
    let subject = try Subject()
    for number in 0..<50 {
      #expect(subject.state.tryAcquire() == true)
      subject.change(3 * number)
      subject.state.publish()
      #expect(subject.numbers == Array(0...3 * number))
      subject.change(3 * number + 1)
      subject.change(3 * number + 2)
      subject.state.reschedule()
      #expect(subject.numbers == Array(0..<3 * number + 3))
      subject.state.acquireScheduled()
      subject.state.release()
    }
    // This thread has read one slot so often that it keeps a pin of it, which cost the second copy.
    #expect(subject.state.wasCopiedCount <= 2)
  }

  @Test
  func `code inside of a change reads the state that was published`() throws {
    let subject = try Subject()
    subject.turn(1)
    subject.turn(2)
    let seen = Record<[Int]>()
    #expect(subject.state.tryAcquire() == true)
    for number in [3, 4] {
      subject.state.change(byReplaying: subject.mutations.track(number)) { value, mutation in
        seen.append(subject.numbers ?? [])
        #expect(subject.state.isChanging == true)
        value.numbers.append(mutation.value)
      }
      #expect(subject.state.isChanging == false)
    }
    subject.state.release()
    // Also while mutation 2 is applied again. Nothing is published before the release.
    #expect(seen.elements == Array(repeating: [1, 2], count: 3))
    #expect(subject.numbers == [1, 2, 3, 4])
  }

  @Test
  func `a reader that stays in a state costs one copy, and later that state is used again`() throws {
    let subject = try Subject()
    subject.turn(1)
    subject.turn(2)
    let pin = subject.state.raw.pinPublished()
    for number in 3..<100 {
      subject.turn(number)
      #expect(subject.numbers(in: pin) == [1, 2])
      #expect(subject.state.wasCopiedCount == (number < 4 ? 1 : 2))
    }
    #expect(subject.numbers == Array(1..<100))
    // What the pinned state lacks.
    #expect(subject.mutations.alive == 97)
    subject.state.raw.unpin(pin)
    // Two readers stay, so the third state is needed. It is brought up to date by all that it lacks.
    let earlier = subject.state.raw.pinPublished()
    subject.turn(100)
    let later = subject.state.raw.pinPublished()
    subject.turn(101)
    #expect(subject.state.wasCopiedCount == 2)
    subject.turn(102)
    #expect(subject.state.wasCopiedCount == 3)
    #expect(subject.numbers(in: earlier) == Array(1..<100))
    #expect(subject.numbers(in: later) == Array(1..<101))
    #expect(subject.numbers == Array(1..<103))
    subject.state.raw.unpin(earlier)
    subject.state.raw.unpin(later)
  }

  @Test
  func `the log is bounded, and a state that it no longer reaches is destroyed`() throws {
    let subject = try Subject()
    subject.turn(0)
    subject.turn(1)
    let pin = subject.state.raw.pinPublished()
    let limit = ReplayLog.leastBound
    for number in 2..<limit + 100 {
      subject.turn(number)
      if number % 100 == 0, number < limit { #expect(subject.mutations.alive == number - 1) }
    }
    #expect(subject.mutations.alive <= 2)
    #expect(subject.state.wasHeldCount == 1)
    #expect(subject.numbers(in: pin) == [0, 1])
    let slot = UInt16(1) << UInt16(pin.slot)
    #expect(subject.state.slots.pointee.initialized & slot != 0)
    subject.state.raw.unpin(pin)
    subject.turn(-1)
    #expect(subject.state.slots.pointee.initialized & slot == 0)
    #expect(subject.state.wasCopiedCount == 2)
    // One turn that is longer than the log.
    #expect(subject.state.tryAcquire() == true)
    for number in 0..<limit + 100 { subject.change(number) }
    subject.state.release()
    #expect(subject.mutations.alive <= limit)
    subject.turn(-2)
    #expect(subject.state.wasCopiedCount == 3)
    #expect(subject.numbers?.count == 2 * (limit + 100) + 2)
    #expect(subject.numbers?.last == -2)
    subject.turn(-3)
    #expect(subject.state.wasCopiedCount == 3)
    #expect(subject.mutations.alive == 1)
  }

  /// As if a copy had taken that long, as long as one that is interrupted could.
  private func makeCopiesSlow(_ state: borrowing OwnedState<some Sendable>) {
    for _ in 0..<40 { state.log.pointee.noteCopy(since: MonotonicTime.now - 10_000_000_000) }
  }

  @Test
  func `the longer a copy takes, the more mutations are kept instead`() throws {
    let subject = try Subject()
    subject.turn(0)
    makeCopiesSlow(subject.state)
    let copies = subject.state.wasCopiedCount
    #expect(subject.state.tryAcquire() == true)
    for number in 1...ReplayLog.greatestBound { subject.change(number) }
    #expect(subject.mutations.alive == ReplayLog.greatestBound)
    subject.state.release()
    subject.turn(-1)
    #expect(subject.state.wasCopiedCount == copies)
    #expect(subject.numbers == Array(0...ReplayLog.greatestBound) + [-1])
    #expect(subject.mutations.alive == 1)
    // What the log has grown to is given back.
    for number in 0..<10 { subject.turn(number) }
    #expect(subject.state.log.pointee.capacity <= ReplayLog.leastBound)
    #expect(subject.state.tryAcquire() == true)
    for number in 0...ReplayLog.greatestBound { subject.change(number) }
    #expect(subject.mutations.alive <= ReplayLog.greatestBound)
    subject.state.release()
  }

  @Test
  func `of large mutations fewer are kept`() throws {
    typealias Large = InlineArray<128, Int>
    let state = try OwnedState<Int>(replaying: Large.self)
    _ = state.tryInitialize { 0 }
    let mutation = Large(repeating: 1)
    let change = { state.change(byReplaying: mutation) { value, mutation in value += mutation[0] } }
    // The first one copies.
    change()
    makeCopiesSlow(state)
    for _ in 0..<20_000 { change() }
    #expect(state.log.pointee.capacity * MemoryLayout<Large>.stride == ReplayLog.byteBound)
    state.release()
    #expect(state.withValue { $0 } == 20_001)
  }

  @Test
  func `as many states are copied as readers stay in, and no more`() throws {
    let subject = try Subject()
    var pins: [SnapshotPin] = []
    for number in 0..<200 {
      pins.append(subject.state.raw.pinPublished())
      if pins.count > 3 { subject.state.raw.unpin(pins.removeFirst()) }
      subject.turn(number)
      #expect(subject.numbers == Array(0...number))
    }
    // The first one, and one for each of three readers.
    #expect(subject.state.wasCopiedCount <= 4)
    for pin in pins { subject.state.raw.unpin(pin) }
  }

  @Test
  func `the owner does not wait as long as a copy takes`() throws {
    let subject = try Subject()
    subject.turn(0)
    subject.turn(1)
    let pin = subject.state.raw.pinPublished()
    subject.turn(2)
    makeCopiesSlow(subject.state)
    let beginning = MonotonicTime.now
    subject.turn(3)
    #expect(MonotonicTime.now - beginning < 5_000_000_000)
    #expect(subject.numbers == [0, 1, 2, 3])
    subject.state.raw.unpin(pin)
  }

  @Test
  func `a replayed state continues in the private slot, and comes back from there`() throws {
    let (states, mutations) = (Lifetimes(), Lifetimes())
    do {
      let subject = try Subject(states: states, mutations: mutations)
      var pins: [SnapshotPin] = []
      for number in 1...snapshotSlotCount {
        pins.append(subject.state.raw.pinPublished())
        subject.turn(number)
      }
      #expect(subject.state.wasDeferredCount == 1)
      subject.turn(9, 10)
      #expect(subject.numbers == Array(1..<snapshotSlotCount))
      for (index, pin) in pins.enumerated() {
        #expect(subject.numbers(in: pin) == Array(1..<index + 1))
      }
      subject.state.raw.unpin(pins.remove(at: 2))
      subject.turn(11)
      #expect(subject.numbers == Array(1...11))
      for pin in pins { subject.state.raw.unpin(pin) }
      for number in 12..<40 {
        subject.turn(number)
        #expect(subject.numbers == Array(1...number))
      }
      #expect(subject.state.wasHeldCount == 0)
      #expect(subject.state.slots.pointee.initialized & 1 << UInt16(privateSlot) == 0)
    }
    #expect(states.alive == 0)
    #expect(mutations.alive == 0)
  }

  @Test
  func `after a change that is no mutation the state is copied once`() throws {
    let subject = try Subject()
    for number in 1..<5 { subject.turn(number) }
    for isAlone in [true, false] {
      let before = subject.state.wasCopiedCount
      #expect(subject.state.tryAcquire() == true)
      if !isAlone { subject.change(-1) }
      subject.state.forgetMutations()
      subject.state.replace { Subject.Value(numbers: [7], tracked: $0.tracked) }
      subject.change(8)
      subject.state.release()
      #expect(subject.numbers == [7, 8])
      for number in 9..<13 { subject.turn(number) }
      #expect(subject.numbers == Array(7..<13))
      #expect(subject.state.wasCopiedCount == before + 1)
    }
  }

  @Test
  func `the pin that an idle thread keeps is revoked, and a large state is not copied`() throws {
    // Without an asymmetric fence no pin is kept.
    guard OwnedStateReadersTests.keepsPins() else { return }
    let subject = try Subject(Array(repeating: 0, count: 1_000_000))
    subject.turn(1)
    subject.turn(2)
    let (hasRead, mayEnd) = (Gate(), Gate())
    let isDone = Threads.start {
      for _ in 0..<100 { _ = subject.state.withValue { $0.numbers.count } }
      hasRead.open()
      _ = mayEnd.wait()
    }
    #expect(hasRead.wait())
    subject.turn(3)
    #expect(subject.state.wasHeldCount == 1)
    subject.turn(4)
    #expect(subject.state.wasHeldCount == 0)
    #expect(subject.state.wasCopiedCount == 1)
    #expect(subject.numbers?.suffix(4) == [1, 2, 3, 4])
    mayEnd.open()
    #expect(isDone.wait())
  }
}
