import ReactorCore
import Synchronization
import TestSupport
import Testing

/// Threads that enter the graph of waits, and what it calls. The tokens are made up.
@Suite struct WaitGraphEdgeTests {
  private static func wait(
    _ thread: UInt64, for emptier: UInt64, isOver: @escaping @Sendable () -> Bool = { false },
    isElastic: Bool = false, wake: @escaping @Sendable () -> Void = {}
  ) -> WaitGraph.Wait {
    WaitGraph.Wait(thread: thread, emptier: { emptier }, isOver: isOver, wake: wake, isElastic: isElastic)
  }

  @Test
  func `a thread that would close a cycle is refused`() {
    let base = UInt64.random(in: 1...0xFFFF) << 40
    let waits = (0..<3).map { Self.wait(base + $0, for: base + ($0 + 1) % 3) }
    #expect(WaitGraph.enter(waits[0]) == .sleeps)
    #expect(WaitGraph.enter(waits[1]) == .sleeps)
    #expect(WaitGraph.enter(waits[2]) == .wouldSleepForEver)
    // It is not noted, so the others wait for a thread that runs.
    let other = Self.wait(base + 9, for: base)
    #expect(WaitGraph.enter(other) == .sleeps)
    for wait in [other] + waits { WaitGraph.leave(wait) }
    #expect(WaitGraph.enter(waits[2]) == .sleeps)
    WaitGraph.leave(waits[2])
  }

  @Test
  func `a wait that can be given up ends, and the thread that would close the cycle sleeps`() {
    let base = UInt64.random(in: 1...0xFFFF) << 40
    let wakes = Shared(Atomic(0))
    let waits = (0..<3).map { index in
      Self.wait(base + index, for: base + (index + 1) % 3, isElastic: index == 1) {
        wakes.value.add(Int(index), ordering: .relaxed)
      }
    }
    for wait in waits { #expect(WaitGraph.enter(wait) == .sleeps) }
    #expect(waits.map(\.mustGiveUp) == [false, true, false])
    #expect(wakes.value.load(ordering: .relaxed) >= 1)
    for wait in waits { WaitGraph.leave(wait) }
    // If it comes last, it is refused itself.
    #expect(WaitGraph.enter(Self.wait(base, for: base + 1)) == .sleeps)
    let last = Self.wait(base + 1, for: base, isElastic: true)
    #expect(WaitGraph.enter(last) == .wouldSleepForEver)
    #expect(!last.mustGiveUp)
    WaitGraph.leave(waits[0])
  }

  @Test
  func `a thread whose wait is over is woken, and closes no cycle`() {
    let base = UInt64.random(in: 1...0xFFFF) << 40
    let isWoken = Shared(Atomic(false))
    let over = Self.wait(
      base, for: base + 1, isOver: { true }, wake: { isWoken.value.store(true, ordering: .relaxed) })
    #expect(WaitGraph.enter(over) == .sleeps)
    let wait = Self.wait(base + 1, for: base)
    #expect(WaitGraph.enter(wait) == .sleeps)
    #expect(isWoken.value.load(ordering: .relaxed) == true)
    WaitGraph.leave(over)
    WaitGraph.leave(wait)
  }

  /// It decided to sleep; then the other one made what it waits for, went on, and began to wait for this thread.
  @Test
  func `a thread whose own wait ended before it entered tries again`() {
    let base = UInt64.random(in: 1...0xFFFF) << 40
    let asleep = Self.wait(base, for: base + 1)
    #expect(WaitGraph.enter(asleep) == .sleeps)
    #expect(WaitGraph.enter(Self.wait(base + 1, for: base, isOver: { true })) == .triesAgain)
    // It is not noted, so the first one waits for a thread that runs.
    let other = Self.wait(base + 2, for: base)
    #expect(WaitGraph.enter(other) == .sleeps)
    for wait in [other, asleep] { WaitGraph.leave(wait) }
  }

  /// The rounds of a loop run in a queue, on any thread.
  @Test
  func `only a thread that is inside of a queue keeps its rounds from running`() {
    let base = UInt64.random(in: 1...0xFFFF) << 40
    let queue = Shared(0)
    func wait(_ thread: UInt64, for emptier: UInt64?, insideOf queues: [ObjectIdentifier]) -> WaitGraph.Wait {
      let inside = ObjectIdentifier(queue)
      return WaitGraph.Wait(
        thread: thread, runsRounds: false, insideOf: queues,
        emptier: { emptier.map { WaitGraph.Emptier($0) } ?? WaitGraph.Emptier(inside: inside) },
        isOver: { false }, wake: {})
    }
    // Neither itself nor through others.
    let (outside, other) = (wait(base, for: nil, insideOf: []), wait(base + 1, for: base, insideOf: []))
    #expect(WaitGraph.enter(outside) == .sleeps)
    #expect(WaitGraph.enter(other) == .sleeps)
    let inside = [ObjectIdentifier(queue)]
    #expect(WaitGraph.enter(wait(base + 2, for: nil, insideOf: inside)) == .wouldSleepForEver)
    #expect(WaitGraph.enter(wait(base + 2, for: base + 1, insideOf: inside)) == .wouldSleepForEver)
    let another = wait(base + 2, for: base + 1, insideOf: [ObjectIdentifier(Shared(1))])
    #expect(WaitGraph.enter(another) == .sleeps)
    for wait in [outside, other, another] { WaitGraph.leave(wait) }
    // The one that waits for the queue comes last.
    let blocked = wait(base, for: base + 1, insideOf: inside)
    #expect(WaitGraph.enter(blocked) == .sleeps)
    #expect(WaitGraph.enter(wait(base + 1, for: nil, insideOf: [])) == .wouldSleepForEver)
    WaitGraph.leave(blocked)
  }

  /// The threads that close a cycle enter at the same time. One of them is refused: the others would sleep for ever, or
  /// one too many would lose what it sends.
  @Test
  func `of threads that close a cycle together, one is refused`() {
    for round in 0..<300 {
      let count = 2 + round % 3
      let base = UInt64.random(in: 1...0xFFFF) << 40
      let refused = Shared(Atomic(0))
      let waits = (0..<count).map { index in
        Self.wait(base + UInt64(index), for: base + UInt64((index + 1) % count))
      }
      let hasEnded = Threads.run(count) { index in
        if WaitGraph.enter(waits[index]) == .wouldSleepForEver { refused.value.add(1, ordering: .relaxed) }
      }
      #expect(hasEnded)
      #expect(refused.value.load(ordering: .relaxed) == 1)
      for wait in waits { WaitGraph.leave(wait) }
    }
  }

  @Test
  func `of threads that close a cycle together, only the one that can give up does`() {
    for round in 0..<300 {
      let count = 2 + round % 3
      let base = UInt64.random(in: 1...0xFFFF) << 40
      let refused = Shared(Atomic(0))
      let waits = (0..<count).map { index in
        Self.wait(base + UInt64(index), for: base + UInt64((index + 1) % count), isElastic: index == 0)
      }
      let hasEnded = Threads.run(count) { index in
        guard WaitGraph.enter(waits[index]) == .wouldSleepForEver else { return }
        refused.value.add(index == 0 ? 1 : 100, ordering: .relaxed)
      }
      #expect(hasEnded)
      #expect(refused.value.load(ordering: .relaxed) + (waits[0].mustGiveUp ? 1 : 0) == 1)
      for wait in waits { WaitGraph.leave(wait) }
    }
  }

  @Test
  func `no other thread waits while the graph calls foreign code`() {
    let base = UInt64.random(in: 1...0xFFFF) << 40
    let (isInside, mayGoOn) = (Gate(), Gate())
    let slow = WaitGraph.Wait(
      thread: base,
      emptier: {
        isInside.open()
        _ = mayGoOn.wait()
        return 0
      }, isOver: { false }, wake: {})
    let isDone = Threads.start {
      #expect(WaitGraph.enter(slow) == .sleeps)
      WaitGraph.leave(slow)
    }
    #expect(isInside.wait())
    let others = Threads.start {
      let wait = Self.wait(base + 1, for: base + 2)
      #expect(WaitGraph.enter(wait) == .sleeps)
      WaitGraph.leave(wait)
    }
    #expect(others.wait(seconds: 60))
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(others.wait())
  }
}
