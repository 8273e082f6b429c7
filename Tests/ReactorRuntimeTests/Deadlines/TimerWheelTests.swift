import TestSupport
import Testing

@testable import ReactorRuntime

/// The deadlines of a timer wheel, beside a plain list.
@Suite struct TimerWheelTests {
  /// The deadlines in the order in which they must come.
  private struct Reference {
    var deadlines: [(key: Int, due: UInt64)] = []

    mutating func set(_ key: Int, due: UInt64) {
      _ = cancel(key)
      let place = deadlines.firstIndex { $0.due > due } ?? deadlines.count
      deadlines.insert((key, due), at: place)
    }

    mutating func cancel(_ key: Int) -> Bool {
      let before = deadlines.count
      deadlines.removeAll { $0.key == key }
      return deadlines.count < before
    }
  }

  /// - Parameter delays: Delays are smaller than two to the power of one of these.
  private func compare(seed: UInt64, delays: ClosedRange<Int>, keys: Int) {
    var random = SplitMix64(seed: seed)
    var (wheel, reference) = (TimerWheel<Int>(), Reference())
    var now: UInt64 = 1 << 20 + random.next() % 1_000_000
    for _ in 0..<2000 {
      let key = Int(random.next() % UInt64(keys))
      switch random.next() % 8 {
      case 0...3:
        let due = now + 1 + random.next() >> UInt64(64 - Int.random(in: delays, using: &random))
        let check = wheel.set(key, due: due, now: now)
        reference.set(key, due: due)
        #expect(check <= due)
      case 4:
        let isCancelled = wheel.cancel(key)
        let wasSet = reference.cancel(key)
        #expect(isCancelled == wasSet)
      default:
        // To a time that may be before or after the next deadline, or is the next check.
        let step = random.next() >> UInt64(64 - Int.random(in: delays, using: &random))
        now = random.next() % 4 == 0 ? max(now, wheel.nextCheck ?? now) : now + step
        while let key = wheel.removeFirst(dueBy: now) {
          let expected = reference.deadlines.isEmpty ? nil : reference.deadlines.removeFirst()
          #expect(key == expected?.key)
          #expect((expected?.due ?? .max) <= now)
        }
        #expect((reference.deadlines.first?.due ?? .max) > now)
      }
      #expect(wheel.count == reference.deadlines.count)
      #expect(wheel.contains(key) == reference.deadlines.contains { $0.key == key })
      #expect((wheel.nextCheck == nil) == reference.deadlines.isEmpty)
      #expect((wheel.nextCheck ?? 0) <= (reference.deadlines.first?.due ?? 0))
    }
  }

  @Test(arguments: [1...3, 1...8, 1...14, 10...26, 1...45])
  func `deadlines come in their order, whatever is set and cancelled meanwhile`(_ delays: ClosedRange<Int>) {
    for seed in 0..<20 { compare(seed: UInt64(seed), delays: delays, keys: seed % 2 == 0 ? 12 : 200) }
  }

  @Test func `each deadline is reached in few checks`() {
    var wheel = TimerWheel<Int>()
    for exponent in 1...40 {
      let due = UInt64(1) << UInt64(exponent) + 12345
      _ = wheel.set(exponent, due: due, now: 0)
      var checks = 0
      while wheel.contains(exponent), let check = wheel.nextCheck {
        checks += 1
        let key = wheel.removeFirst(dueBy: check)
        #expect(key == (check == due ? exponent : nil))
      }
      // One for each level; and some more for what is beyond the highest.
      #expect(checks <= (exponent <= 36 ? 6 : 6 + 1 << (exponent - 36)))
      wheel = TimerWheel()
    }
  }

  @Test func `a deadline takes at most 64 bytes besides its key`() {
    func check<Key: Hashable & Sendable>(_: Key.Type, _ key: (Int) -> Key) {
      var wheel = TimerWheel<Key>()
      for count in 1...50_000 {
        _ = wheel.set(key(count), due: UInt64(count), now: 0)
        if count < 1000 { continue }
        let levels = wheel.levels.reduce(0) { $0 + $1.first.capacity * 4 }
        let entries = wheel.entries.capacity * MemoryLayout<TimerWheel<Key>.Entry>.stride
        let bytes = levels + entries + wheel.buckets.capacity * 4
        #expect(bytes <= count * (64 + MemoryLayout<Key>.stride))
      }
    }
    check(Int.self) { $0 }
    check(String.self) { String($0) }
  }

  @Test func `a deadline beside one that is far away is not checked before its time`() {
    var wheel = TimerWheel<Int>()
    _ = wheel.set(0, due: 50_000_000, now: 1)
    for now in stride(from: 5 as UInt64, to: 2_000_000, by: 997) {
      let first = wheel.removeFirst(dueBy: now)
      #expect(first == nil)
      let check = wheel.set(1, due: now + 300, now: now)
      #expect(check > now)
      let isSet = wheel.cancel(1)
      #expect(isSet)
    }
  }

  @Test func `an empty wheel gives the memory of a peak back, and goes on`() {
    var wheel = TimerWheel<Int>()
    for round in 0..<3 {
      for key in 0..<5000 {
        _ = wheel.set(key, due: UInt64(round * 10_000 + key + 1), now: UInt64(round * 10_000))
      }
      var cancelled = 0
      for key in 0..<2500 where wheel.cancel(2 * key) { cancelled += 1 }
      #expect(cancelled == 2500)
      #expect(wheel.entries.capacity >= 5000)
      var left = 0
      while wheel.removeFirst(dueBy: UInt64(round * 10_000 + 5000)) != nil { left += 1 }
      #expect(left == 2500)
      #expect(wheel.entries.capacity <= 1024)
      #expect(wheel.buckets.capacity <= 1024)
      #expect(wheel.nextCheck == nil)
    }
  }

  @Test func `a wheel reuses the memory of deadlines that are gone, and keeps no key`() {
    let lifetimes = Lifetimes()
    var wheel = TimerWheel<Tracked>()
    for round in 0..<100 {
      for value in 0..<50 {
        _ = wheel.set(Tracked(object: lifetimes.track(value)), due: UInt64(100 * round + value + 1), now: 0)
      }
      for value in 0..<25 { _ = wheel.cancel(Tracked(object: lifetimes.track(value))) }
      #expect(lifetimes.alive == 25)
      while wheel.removeFirst(dueBy: UInt64(100 * round + 99)) != nil {}
      #expect(lifetimes.alive == 0)
    }
    #expect(wheel.entries.count == 50)
  }
}

/// A key whose objects are counted.
private struct Tracked: Hashable, Sendable {
  let object: LifetimeTracked

  static func == (one: Tracked, other: Tracked) -> Bool { one.object.value == other.object.value }
  func hash(into hasher: inout Hasher) { hasher.combine(object.value) }
}
