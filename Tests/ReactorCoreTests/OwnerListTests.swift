import ReactorCore
import TestSupport
import Testing

/// The list that its owner iterates without counting references.
@Suite struct OwnerListTests {
  private func values(_ list: OwnerList<LifetimeTracked>) -> [Int] {
    var values: [Int] = []
    list.visit { values.append($0.value) }
    return values
  }

  @Test func `a list keeps the order and retains its objects`() {
    let lifetimes = Lifetimes()
    do {
      let list = OwnerList<LifetimeTracked>()
      for value in 0..<100 { list.append(lifetimes.track(value)) }
      #expect(values(list) == Array(0..<100))
      list.removeAll { $0.value % 3 != 0 }
      #expect(values(list) == Array(stride(from: 0, to: 100, by: 3)))
      #expect(lifetimes.alive == 34)
    }
    #expect(lifetimes.alive == 0)
  }

  @Test func `objects may be added during an iteration`() {
    let lifetimes = Lifetimes()
    let list = OwnerList<LifetimeTracked>()
    list.append(lifetimes.track(1))
    list.append(lifetimes.track(2))
    var seen: [Int] = []
    list.visit { object in
      seen.append(object.value)
      for _ in 0..<50 { list.append(lifetimes.track(object.value * 10)) }
    }
    #expect(seen == [1, 2])
    #expect(list.count == 102)
  }

  @Test func `any object is removed by its key, and the others keep their order`() {
    let lifetimes = Lifetimes()
    let list = OwnerList<LifetimeTracked>()
    var random = SplitMix64(seed: 1)
    var expected: [(key: Int, value: Int)] = []
    for value in 0..<1000 {
      expected.append((list.append(lifetimes.track(value)), value))
      if value % 3 == 0 { continue }
      let (key, _) = expected.remove(at: Int(random.next() % UInt64(expected.count)))
      #expect(list.remove(key))
      #expect(!list.remove(key))
      #expect(list.count == expected.count && lifetimes.alive == expected.count)
    }
    #expect(values(list) == expected.map(\.value))
    list.removeAll { $0.value % 2 == 0 }
    for (key, value) in expected { #expect(list.remove(key) == (value % 2 != 0)) }
    #expect(list.isEmpty && lifetimes.alive == 0)
    #expect(!list.remove(OwnerListKey.none))
  }

  @Test func `the deinit of a removed object may add to the list`() {
    final class Adder: Sendable {
      let list: OwnerList<Adder>?
      init(to list: OwnerList<Adder>?) { self.list = list }
      deinit { list?.append(Adder(to: nil)) }
    }
    let list = OwnerList<Adder>()
    list.append(Adder(to: list))
    list.removeAll { $0.list != nil }
    #expect(list.count == 1)
  }
}
