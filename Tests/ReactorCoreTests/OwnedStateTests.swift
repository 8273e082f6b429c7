import ReactorCore
import TestSupport
import Testing

/// Starting, owning and publishing a state.
@Suite struct OwnedStateTests {
  /// Numbers with an object that is counted, so that a copy of the state that leaks or is destroyed twice is noticed.
  private struct Counted: Sendable {
    var numbers: [Int]
    let payload: LifetimeTracked

    init(_ numbers: [Int], _ lifetimes: Lifetimes) {
      self.numbers = numbers
      payload = lifetimes.track()
    }
  }

  @Test
  func `a state starts once`() throws {
    let state = try OwnedState<Int>()
    #expect(state.hasStarted == false)
    #expect(state.read() == nil)
    #expect(state.tryAcquire() == false)
    #expect(state.trySchedule() == false)
    #expect(state.isBusy == false)
    var reads = 0
    let isStarted = state.tryInitialize {
      reads += 1
      return 7
    }
    #expect(isStarted)
    // The thread that started the state is its owner. Readers see the state already.
    #expect(state.isOwner == true)
    #expect(state.hasStarted == true)
    #expect(state.read() == 7)
    let isStartedAgain = state.tryInitialize {
      reads += 1
      return 8
    }
    #expect(!isStartedAgain)
    #expect(reads == 1)
    state.release()
    #expect(state.read() == 7)
    #expect(state.isBusy == false)
  }

  @Test
  func `exactly one of several threads starts the state`() throws {
    for _ in 0..<50 {
      let state = Shared(try OwnedState<Int>())
      let starters = Record<Int>()
      #expect(
        Threads.run(4) { index in
          let isMine = state.value.tryInitialize {
            starters.append(index)
            return index
          }
          if isMine { state.value.release() }
        })
      #expect(starters.elements.count == 1)
      #expect(state.value.read() == starters.elements.first)
    }
  }

  @Test
  func `no thread reads a state while it starts`() throws {
    let lifetimes = Lifetimes()
    do {
      let state = Shared(try OwnedState<Counted>())
      let seen = Record<[Int]?>()
      let isStarted = state.value.tryInitialize {
        seen.append(state.value.read()?.numbers)
        #expect(Threads.run(1) { _ in seen.append(state.value.read()?.numbers) })
        return Counted([1], lifetimes)
      }
      #expect(isStarted)
      #expect(seen.elements == [nil, nil])
      state.value.release()
    }
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test(arguments: [false, true])
  func `a release after many undisturbed turns shows the state and gives the ownership up`(hasOnePlace: Bool)
    throws
  {
    let state = Shared(try OwnedState<Int>(inOnePlace: hasOnePlace))
    #expect(state.value.tryInitialize { 0 })
    state.value.release(as: state.value.form, afterTurns: 1)
    let wrong = Record<Int>()
    for turn in 2...9000 {
      if !state.value.tryAcquire() { wrong.append(turn) }
      state.value.change { $0 = turn }
      state.value.endAction()
      // Threads that meet the owner, when the release costs less and when it does not.
      if turn % 700 == 0, !Threads.run(1, { _ in if !state.value.isBusy { wrong.append(turn) } }) {
        wrong.append(turn)
      }
      if turn % 900 == 0, !Threads.run(1, { _ in if state.value.tryAcquireOrRely() { wrong.append(turn) } }) {
        wrong.append(turn)
      }
      state.value.release(as: state.value.form, afterTurns: turn)
      if state.value.isBusy || state.value.isOwner { wrong.append(turn) }
      if turn % 500 == 0, !Threads.run(1, { _ in if state.value.read() != turn { wrong.append(turn) } }) {
        wrong.append(turn)
      }
    }
    #expect(wrong.elements == [])
  }

  @Test
  func `at most one thread owns the state or has it scheduled`() throws {
    let state = Shared(try OwnedState<Int>())
    #expect(state.value.tryInitialize { 0 } == true)
    #expect(state.value.isBusy == true)
    #expect(state.value.ownerToken == CurrentCore.threadToken)
    #expect(state.value.tryAcquire() == false)
    state.value.release()
    #expect(state.value.ownerToken == 0)
    #expect(state.value.isBusy == false)
    #expect(state.value.trySchedule() == true)
    #expect(state.value.isBusy == true)
    #expect(state.value.isOwner == false)
    #expect(state.value.tryAcquire() == false)
    let seen = Record<Bool>()
    #expect(
      Threads.run(1) { _ in
        state.value.acquireScheduled()
        seen.append(state.value.isOwner)
        state.value.change { $0 = 5 }
        state.value.release()
        seen.append(state.value.isOwner)
      })
    #expect(seen.elements == [true, false])
    #expect(state.value.read() == 5)
  }

  @Test
  func `the owner sees its changes at once and other threads see what was published`() throws {
    let lifetimes = Lifetimes()
    do {
      let state = Shared(try OwnedState<Counted>())
      func others() -> [Int]? {
        let seen = Record<[Int]?>()
        #expect(Threads.run(1) { _ in seen.append(state.value.read()?.numbers) })
        return seen.elements.first ?? nil
      }
      #expect(state.value.tryInitialize { Counted([0], lifetimes) } == true)
      state.value.release()
      #expect(others() == [0])
      #expect(state.value.tryAcquire() == true)
      state.value.change { $0.numbers.append(1) }
      #expect(state.value.read()?.numbers == [0, 1])
      #expect(others() == [0])
      state.value.publish()
      #expect(others() == [0, 1])
      // A second publication does nothing, and the owner then continues in another slot.
      state.value.publish()
      state.value.change { $0.numbers.append(2) }
      state.value.change { $0.numbers.append(3) }
      #expect(state.value.read()?.numbers == [0, 1, 2, 3])
      #expect(others() == [0, 1])
      state.value.release()
      #expect(others() == [0, 1, 2, 3])
      #expect(state.value.read()?.numbers == [0, 1, 2, 3])
      // A release without a change publishes nothing new.
      #expect(state.value.tryAcquire() == true)
      state.value.release()
      #expect(others() == [0, 1, 2, 3])
    }
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test
  func `a read inside of a change returns the published state`() throws {
    let lifetimes = Lifetimes()
    do {
      let state = try OwnedState<Counted>()
      #expect(state.tryInitialize { Counted([0], lifetimes) } == true)
      for turn in 1...5 {
        let before = state.read()?.numbers
        state.change {
          $0.numbers.append(turn)
          #expect(state.read()?.numbers == before)
        }
        // The second change of the same turn: still the published state, not the result of the first change.
        state.change {
          $0.numbers.append(-turn)
          #expect(state.read()?.numbers == before)
        }
        #expect(state.read()?.numbers == (before ?? []) + [turn, -turn])
        if turn % 2 == 0 {
          state.publish()
        } else {
          state.release()
          #expect(state.tryAcquire() == true)
        }
      }
    }
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `readers never see a torn state`() throws {
    struct Words: Sendable {
      var a = 0
      var b = 0
      var c: LifetimeTracked
      var d = 0

      init(_ value: Int, _ lifetimes: Lifetimes) {
        (a, b, c, d) = (value, value, lifetimes.track(value), value)
      }
    }
    func body() throws {
      let lifetimes = Lifetimes()
      do { try readAndChange(Shared(try OwnedState<Words>()), lifetimes) }
      #expect(Threads.yield { lifetimes.alive == 0 })
    }
    func readAndChange(_ state: Shared<OwnedState<Words>>, _ lifetimes: Lifetimes) throws {
      #expect(state.value.tryInitialize { Words(0, lifetimes) } == true)
      state.value.release()
      let isDone = Gate()
      let torn = Record<Int>()
      let backwards = Record<Int>()
      let readers = Threads.start {
        _ = Threads.run(2) { _ in
          var last = 0
          while !isDone.isOpen {
            guard let seen = state.value.read() else { continue }
            if seen.a != seen.b || seen.a != seen.d || seen.c.value != seen.a { torn.append(seen.a) }
            if seen.a < last { backwards.append(seen.a) }
            last = seen.a
          }
        }
      }
      for index in 1...5000 {
        guard state.value.tryAcquire() else {
          Issue.record("a reader took the ownership")
          break
        }
        state.value.change { $0 = Words(index, lifetimes) }
        if index % 3 == 0 { state.value.publish() }
        state.value.release()
      }
      isDone.open()
      #expect(readers.wait())
      #expect(torn.elements == [])
      #expect(backwards.elements == [])
      #expect(state.value.read()?.a == 5000)
    }
    try body()
  }

  /// An object whose end runs a closure.
  private final class Probe: Sendable {
    private let atEnd: @Sendable () -> Void
    init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
    deinit { atEnd() }
  }

  /// An assignment of such a state stores one part after the other.
  private struct InParts: Sendable {
    var probe: Probe?
    var extra: any Sendable
    var number: Int
  }

  /// An assignment of such a state destroys the old one first.
  private enum InCases: Sendable {
    case number(Int, any Sendable)
    case probe(Probe, any Sendable)
  }

  @Test
  func `the deinitializer of a replaced state reads the whole new one`() throws {
    let state = Shared(try OwnedState<InParts>())
    let seen = Record<[Int]>()
    _ = state.value.tryInitialize { InParts(probe: nil, extra: 0, number: 0) }
    // In one turn, so that the second one is stored where the first one is.
    state.value.replace { _ in
      let probe = Probe { [unowned state] in
        _ = state.value.withValue { seen.append([$0.probe == nil ? 0 : 1, $0.number]) }
      }
      return InParts(probe: probe, extra: 1, number: 1)
    }
    state.value.replace { _ in InParts(probe: nil, extra: 2, number: 2) }
    #expect(seen.elements == [[0, 2]])
  }

  @Test
  func `the deinitializer of a replaced case reads the whole new one`() throws {
    let state = Shared(try OwnedState<InCases>())
    let seen = Record<Int>()
    _ = state.value.tryInitialize { .number(0, 0) }
    state.value.replace { _ in
      let probe = Probe { [unowned state] in
        _ = state.value.withValue { if case .number(let number, _) = $0 { seen.append(number) } }
      }
      return .probe(probe, 1)
    }
    state.value.replace { _ in .number(2, "two") }
    #expect(seen.elements == [2])
  }
}
