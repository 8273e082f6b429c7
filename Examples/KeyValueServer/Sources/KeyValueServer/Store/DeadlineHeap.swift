/// A binary heap of deadlines, the earliest first; equal ones in the order of their keys.
///
/// Each item has a number that stays the same while the item moves. So an item is removed when its key gets another deadline or goes, and
/// the heap never has one that no longer holds.
struct DeadlineHeap: Sendable {
  typealias Number = Int32

  private struct Item: Sendable {
    let deadline: Int64
    let key: Key
    let number: Number

    static func < (one: Self, other: Self) -> Bool {
      one.deadline != other.deadline ? one.deadline < other.deadline : one.key < other.key
    }
  }

  private var items: [Item] = []
  /// Where the item of each number is.
  private var places: [Int32] = []
  /// The numbers that no item has.
  private var unused: [Number] = []

  var count: Int { items.count }
  /// What goes first.
  var first: (deadline: Int64, key: Key)? { items.first.map { ($0.deadline, $0.key) } }

  /// Adds a deadline; returns its number.
  mutating func insert(_ deadline: Int64, _ key: Key) -> Number {
    let number: Number
    if let last = unused.popLast() {
      number = last
    } else {
      number = Number(places.count)
      places.append(0)
    }
    let item = Item(deadline: deadline, key: key, number: number)
    items.append(item)
    lift(item, from: items.count - 1)
    return number
  }

  mutating func remove(_ number: Number) {
    let place = Int(places[Int(number)])
    unused.append(number)
    let last = items.removeLast()
    if place == items.count { return }
    // It may belong above the place that is free now, or below.
    if place > 0, last < items[(place - 1) / 2] { lift(last, from: place) } else { sink(last, from: place) }
  }

  /// Puts an item where it belongs: at `start`, where there is none or an item that is kept elsewhere, or above it.
  private mutating func lift(_ item: Item, from start: Int) {
    var index = start
    while index > 0, item < items[(index - 1) / 2] {
      put(items[(index - 1) / 2], at: index)
      index = (index - 1) / 2
    }
    put(item, at: index)
  }

  /// Like ``lift(_:from:)``, but below.
  private mutating func sink(_ item: Item, from start: Int) {
    var index = start
    while 2 * index + 1 < items.count {
      var child = 2 * index + 1
      if child + 1 < items.count, items[child + 1] < items[child] { child += 1 }
      if !(items[child] < item) { break }
      put(items[child], at: index)
      index = child
    }
    put(item, at: index)
  }

  private mutating func put(_ item: Item, at index: Int) {
    items[index] = item
    places[Int(item.number)] = Int32(index)
  }
}
