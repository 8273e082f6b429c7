import CBenchmarkLimits

/// When the items of an open loop are due, and what was sent of them. The value of an item is its time.
///
/// A subject that takes far less than the rate would need minutes for all of them: then the rest is not sent, and the quota is told
/// how old that was.
struct SendSchedule: Sendable {
  /// How many items are sent between two looks at the time that is left.
  private static let burst = 64

  private let count: Int
  private let ticks: Double
  private let quota: Quota
  private var start: UInt64 = 0
  /// The time when the clock was last read. One that is late need not read it for each item.
  private var now: UInt64 = 0
  private(set) var sent = Totals(count: 0, sum: 0)

  /// - Parameter ticks: From one item to the next.
  init(count: Int, every ticks: Double, within quota: Quota) {
    (self.count, self.ticks, self.quota) = (count, ticks, quota)
  }

  /// Waits until the next item is due, which the caller sends at once. Returns its time; nil if no more are to be sent.
  @inline(__always)
  mutating func next() -> UInt64? {
    let index = sent.count
    guard index < count else { return nil }
    if index.isMultiple(of: Self.burst) {
      // Time for a parked consumer to fall asleep.
      if index == 0 { start = bl_ticks() + UInt64(ticks) }
      if !quota.hasTimeLeft {
        quota.note(UnsentItems(from: index, to: count, start: start, every: ticks, at: bl_ticks()))
        return nil
      }
    }
    let due = time(of: index)
    while now < due { now = bl_ticks() }
    sent.count += 1
    sent.sum &+= due
    return due
  }

  @inline(__always)
  private func time(of index: Int) -> UInt64 { start + UInt64(Double(index) * ticks) }
}

/// The items that were due when a sender gave up, and were not sent.
struct UnsentItems: Sendable {
  /// How long ago each was due, in ticks: the least that its latency can be.
  let ages: [UInt64]

  init(from index: Int, to count: Int, start: UInt64, every ticks: Double, at now: UInt64) {
    var ages: [UInt64] = []
    for item in index..<count {
      let due = start + UInt64(Double(item) * ticks)
      guard due <= now else { break }
      ages.append(now - due)
    }
    self.ages = ages
  }
}
