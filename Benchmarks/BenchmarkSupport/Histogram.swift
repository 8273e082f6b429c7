/// A log-linear histogram in constant memory: exact below 256, then 128 buckets per power of two. A value that is read
/// back is at most 0.8 % above the recorded one, over the whole range of `UInt64`.
package struct Histogram: Sendable {
  private static let subBucketBits = 7
  private static let subBuckets = 1 << subBucketBits
  /// Powers of two from 2^7 on, and the linear part below that.
  private static let size = (64 - subBucketBits + 1) * subBuckets

  private var counts = [UInt64](repeating: 0, count: size)
  package private(set) var count: UInt64 = 0
  package private(set) var maximum: UInt64 = 0

  package init() {}

  package mutating func record(_ value: UInt64) {
    counts[Self.index(of: value)] += 1
    count += 1
    maximum = max(maximum, value)
  }

  /// The smallest recorded value that `fraction` of all values do not exceed, rounded up to the end of its
  /// bucket; 0 if nothing was recorded.
  package func percentile(_ fraction: Double) -> UInt64 {
    guard count > 0 else { return 0 }
    let rank = max(1, min(count, UInt64((fraction * Double(count)).rounded(.up))))
    var seen: UInt64 = 0
    for (index, inBucket) in counts.enumerated() where inBucket > 0 {
      seen += inBucket
      if seen >= rank { return min(Self.highestValue(at: index), maximum) }
    }
    return maximum
  }

  static func index(of value: UInt64) -> Int {
    guard value >= UInt64(subBuckets) else { return Int(value) }
    let shift = 63 - subBucketBits - value.leadingZeroBitCount
    // After the shift the leading one is bit 7, which counts as one more row of buckets.
    return (shift << subBucketBits) + Int(value >> UInt64(shift))
  }

  static func highestValue(at index: Int) -> UInt64 {
    guard index >= 2 * subBuckets else { return UInt64(index) }
    let shift = UInt64(index / subBuckets - 1)
    let top = UInt64(index % subBuckets + subBuckets)
    return (top << shift) + ((1 << shift) - 1)
  }
}
