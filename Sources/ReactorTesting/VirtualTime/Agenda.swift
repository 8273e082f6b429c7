/// What is to happen in virtual time: earliest first, and of the same time what was told first.
struct Agenda: Sendable {
  typealias Action = @Sendable () -> Void

  private struct Entry: Sendable {
    let time: TestTime
    let number: Int

    func isBefore(_ other: Entry) -> Bool { (time, number) < (other.time, other.number) }
  }

  /// A binary heap; an entry whose action is gone was cancelled.
  private var heap: [Entry] = []
  private var actions: [Int: Action] = [:]
  private var told = 0

  /// O(log n). Answers the number by which to cancel it.
  mutating func insert(at time: TestTime, _ action: @escaping Action) -> Int {
    told += 1
    actions[told] = action
    heap.append(Entry(time: time, number: told))
    var child = heap.count - 1
    while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
    return told
  }

  /// Takes an action out, unless it was taken before. The answer is destroyed by the caller, outside of any
  /// lock.
  mutating func cancel(_ number: Int) -> Action? { actions.removeValue(forKey: number) }

  /// The time of what is next. O(log n) for each that was cancelled.
  mutating func nextTime() -> TestTime? {
    while let first = heap.first, actions[first.number] == nil { removeFirst() }
    return heap.first?.time
  }

  /// Takes out what is next. O(log n).
  mutating func takeNext() -> (time: TestTime, action: Action)? {
    guard nextTime() != nil else { return nil }
    let first = heap[0]
    removeFirst()
    return actions.removeValue(forKey: first.number).map { (first.time, $0) }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].isBefore(heap[least]) { least = child }
      }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
