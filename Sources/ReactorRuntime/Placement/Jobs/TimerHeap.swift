/// Timers, the earliest first, and of two with the same time the one that came first: a binary heap.
struct TimerHeap: Sendable {
  private struct Entry: Sendable {
    let timer: LoopTimer
    let number: UInt64

    func isBefore(_ other: Entry) -> Bool {
      (timer.deadline, number) < (other.timer.deadline, other.number)
    }
  }

  private var entries: [Entry] = []
  private var made: UInt64 = 0

  var count: Int { entries.count }
  var earliest: Int64? { entries.first?.timer.deadline }

  /// - Complexity: O(log n).
  mutating func insert(_ timer: LoopTimer) {
    made += 1
    entries.append(Entry(timer: timer, number: made))
    rise(from: entries.count - 1)
  }

  /// Takes the earliest out if its time has come. O(log n).
  mutating func removeFirst(dueBy now: Int64) -> LoopTimer? {
    guard let first = entries.first, first.timer.deadline <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sink(from: 0)
    }
    return first.timer
  }

  /// Takes all out that fulfil the condition; answers how many. O(n).
  mutating func remove(where condition: (LoopTimer) -> Bool) -> Int {
    let before = entries.count
    entries.removeAll { condition($0.timer) }
    for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(from: index) }
    return before - entries.count
  }

  private mutating func rise(from start: Int) {
    var index = start
    while index > 0, case let parent = (index - 1) / 2, entries[index].isBefore(entries[parent]) {
      entries.swapAt(index, parent)
      index = parent
    }
  }

  private mutating func sink(from start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < entries.count && entries[child].isBefore(entries[least]) {
        least = child
      }
      if least == index { return }
      entries.swapAt(index, least)
      index = least
    }
  }
}
