/// A state of some size, with the usual totals in it.
protocol SizedState: Sendable {
  init()
  mutating func reduce(_ item: Item)
  /// Nil if its parts do not agree.
  var totals: Totals? { get }
}

/// 16 bytes.
struct SmallState: SizedState {
  private var count = 0
  private var sum: UInt64 = 0

  @inline(__always)
  mutating func reduce(_ item: Item) {
    count &+= 1
    sum &+= item.value
  }

  var totals: Totals? { Totals(count: count, sum: sum) }
}

/// 256 bytes, of which an action changes 24.
struct WideState: SizedState {
  private var small = SmallState()
  private var sums = InlineArray<30, UInt64>(repeating: 0)

  @inline(__always)
  mutating func reduce(_ item: Item) {
    small.reduce(item)
    sums[Int(item.value % 30)] &+= item.value
  }

  var totals: Totals? { small.totals(ifSum: sums.indices.reduce(0) { $0 &+ sums[$1] }) }
}

/// 24 bytes, and an array of 512 bytes apart from them, of which an action changes 8.
struct ArrayState: SizedState {
  private var small = SmallState()
  private var sums = [UInt64](repeating: 0, count: 64)

  @inline(__always)
  mutating func reduce(_ item: Item) {
    small.reduce(item)
    sums[Int(item.value % 64)] &+= item.value
  }

  var totals: Totals? { small.totals(ifSum: sums.reduce(0, &+)) }
}

extension SmallState {
  fileprivate func totals(ifSum other: UInt64) -> Totals? { sum == other ? totals : nil }
}

extension Totals? {
  func agreed() throws -> Totals {
    guard let self else { throw SubjectFailure("the parts of the state do not agree") }
    return self
  }
}
