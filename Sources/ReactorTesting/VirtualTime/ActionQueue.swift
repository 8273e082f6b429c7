/// The actions that a ``TestScheduler`` still has to run: a priority queue, ordered by time. Actions of the same
/// time keep the order in which they were inserted.
struct ActionQueue: Sendable {
  typealias Action = @Sendable () -> Void

  struct Entry: Sendable {
    let time: TestTime
    let number: Int

    func isBefore(_ other: Entry) -> Bool { (time, number) < (other.time, other.number) }
  }

  /// A binary heap. An entry whose number is missing from `actions` was cancelled; there are not many more of these than others.
  private(set) var heap: [Entry] = []
  private var actions: [Int: Action] = [:]
  private var lastNumber = 0

  /// Inserts an action in O(log n). Returns the number with which the action can be cancelled.
  mutating func insert(at time: TestTime, _ action: @escaping Action) -> Int {
    lastNumber += 1
    actions[lastNumber] = action
    heap.append(Entry(time: time, number: lastNumber))
    var child = heap.count - 1
    while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
    return lastNumber
  }

  /// Removes an action, and returns it unless it was removed before. O(log n) on average. The caller destroys it outside of any
  /// lock, because the action's captures may run user code when they are destroyed.
  mutating func cancel(_ number: Int) -> Action? {
    let action = actions.removeValue(forKey: number)
    // Otherwise cancelled actions of a far time, such as those of a timeout that each element renews, would add up until then. O(log n)
    // on average: as many were cancelled since the last time as are left. A sorted array is a heap.
    if heap.count > 2 * actions.count + 64 {
      heap.removeAll { actions[$0.number] == nil }
      heap.sort { $0.isBefore($1) }
    }
    return action
  }

  /// Returns the time of the next action. O(log n) for each cancelled entry that it drops.
  mutating func nextTime() -> TestTime? {
    while let first = heap.first, actions[first.number] == nil { removeFirst() }
    return heap.first?.time
  }

  /// Removes and returns the next action. O(log n).
  mutating func popFirst() -> (time: TestTime, action: Action)? {
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
