/// A list that is changed at both ends in O(1): a ring of which the capacity is a power of two. A queue that was long once does not keep
/// its room.
struct ListValue: Sendable {
  private var slots: [[UInt8]?] = Array(repeating: nil, count: 8)
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  subscript(index: Int) -> [UInt8] { slots[(head + index) & (slots.count - 1)]! }

  mutating func pushBack(_ element: [UInt8]) {
    growIfFull()
    slots[(head + count) & (slots.count - 1)] = element
    count += 1
  }

  mutating func pushFront(_ element: [UInt8]) {
    growIfFull()
    head = (head - 1) & (slots.count - 1)
    slots[head] = element
    count += 1
  }

  mutating func popFront() -> [UInt8]? {
    if count == 0 { return nil }
    defer {
      head = (head + 1) & (slots.count - 1)
      count -= 1
      shrinkIfSparse()
    }
    return slots[head].take()
  }

  mutating func popBack() -> [UInt8]? {
    if count == 0 { return nil }
    count -= 1
    defer { shrinkIfSparse() }
    return slots[(head + count) & (slots.count - 1)].take()
  }

  private mutating func growIfFull() { if count == slots.count { resize(to: count * 2) } }

  /// Not at half: then a list that gets and loses one element would be copied each time.
  private mutating func shrinkIfSparse() {
    if slots.count > 64, count < slots.count / 8 { resize(to: slots.count / 4) }
  }

  private mutating func resize(to capacity: Int) {
    var resized: [[UInt8]?] = []
    resized.reserveCapacity(capacity)
    // Moved: a copy would count a reference for each element, wherever that is in memory.
    for index in 0..<count { resized.append(slots[(head + index) & (slots.count - 1)].take()) }
    resized.append(contentsOf: repeatElement(nil, count: capacity - count))
    slots = resized
    head = 0
  }
}
