/// The random generator of all tests: small, fast and repeatable.
///
/// After G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators" (2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed &>> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed &>> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed &>> 31)
  }

  /// Returns true once in `count` times on average.
  public mutating func happens(onceIn count: UInt64) -> Bool { next() % count == 0 }

  /// Returns a number from 0 to `limit` - 1. It is slightly biased, which does not matter here; speed does.
  public mutating func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: next() % UInt64(limit)) }
}
