import ReactorCore
import TestSupport
import Testing

/// The list that its owner changes and other threads inspect.
@Suite struct WatchedListTests {
  private func values(_ list: WatchedList<LifetimeTracked>) -> [Int] {
    var values: [Int] = []
    list.forEachLocked { values.append($0.value) }
    return values
  }

  private func list(of values: Range<Int>, _ lifetimes: Lifetimes) -> WatchedList<LifetimeTracked> {
    let list = WatchedList<LifetimeTracked>(capacity: 4)
    list.append { elements in for value in values { elements.append(lifetimes.track(value)) } }
    return list
  }

  @Test(arguments: [[], [0], [9], [0, 9], [3, 4, 5], [7, 8, 9], Array(0..<10)])
  func `what is moved out is gone, and nothing else`(_ indices: [Int]) {
    let lifetimes = Lifetimes()
    let list = list(of: 0..<10, lifetimes)
    let wanted = indices.map { index in list.read(at: index) { $0.value } }
    var removed: ContiguousArray<LifetimeTracked> = []
    list.move(at: ContiguousArray(indices), to: &removed)
    #expect(Set(removed.map(\.value)) == Set(wanted))
    #expect(Set(values(list)) == Set(0..<10).subtracting(wanted))
    #expect(list.count == 10 - wanted.count && list.wasCount == list.count)
    #expect(lifetimes.alive == 10)
    removed = []
    #expect(lifetimes.alive == list.count)
  }

  @Test func `another thread sees the list before a change or after it`() {
    let lifetimes = Lifetimes()
    let list = list(of: 0..<8, lifetimes)
    let isDone = Gate()
    let reader = Threads.start {
      while !isDone.isOpen {
        let count = values(list).count
        if count != 8 && count != 4 { Issue.record("\(count) elements") }
      }
    }
    var removed: ContiguousArray<LifetimeTracked> = []
    for _ in 0..<2000 {
      list.move(at: [1, 2, 5, 7], to: &removed)
      list.append { elements in
        while let element = removed.popLast() { elements.append(element) }
      }
    }
    isDone.open()
    #expect(reader.wait())
    #expect(values(list).sorted() == Array(0..<8))
  }
}
