import CBenchmarkLimits

/// When the items of an open loop are due, and what was sent of them. The value of an item is its time.
///
/// A subject that takes far less than the rate would need minutes for all of them: what it was sent in the time of the
/// repetition is its figure.
struct SendSchedule: Sendable {
  /// How many items are sent between two looks at the time that is left.
  private static let burst = 64

  private let count: Int
  private let ticks: Double
  private let quota: Quota
  private var start: UInt64 = 0
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
      if !quota.hasTimeLeft { return nil }
      // Time for a parked consumer to fall asleep.
      if index == 0 { start = bl_ticks() + UInt64(ticks) }
    }
    let due = start + UInt64(Double(index) * ticks)
    while bl_ticks() < due {}
    sent.count += 1
    sent.sum &+= due
    return due
  }
}
