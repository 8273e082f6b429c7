import ReactorCore
import Testing

/// Durations in nanoseconds, and times that are further away than 64 bits of them reach.
@Suite struct MonotonicTimeTests {
  static let cases: [(Duration, Int64)] = [
    (.zero, 0), (.nanoseconds(1), 1), (.nanoseconds(-1), -1), (.milliseconds(-1500), -1_500_000_000),
    (Duration(attoseconds: 1_999_999_999), 1), (Duration(attoseconds: -1_999_999_999), -1),
    (.seconds(9_223_372_036), 9_223_372_036_000_000_000),
    (.seconds(-9_223_372_036), -9_223_372_036_000_000_000),
    (.nanoseconds(9_223_372_036_854_775_806), .max - 1), (.nanoseconds(-9_223_372_036_854_775_807), .min + 1),
    (.nanoseconds(9_223_372_036_854_775_807), .max), (.nanoseconds(-9_223_372_036_854_775_808), .min),
  ]

  @Test(arguments: cases)
  func `a duration has its whole nanoseconds`(_ duration: Duration, _ nanoseconds: Int64) {
    #expect(duration.nanoseconds == nanoseconds)
  }

  static let tooLong: [Duration] = [
    .nanoseconds(Int64.max) + .nanoseconds(1), .seconds(9_223_372_037),
    .seconds(Int64.max), .seconds(Int64.max) + .seconds(100), Duration(attoseconds: .max),
  ]

  @Test(arguments: tooLong)
  func `a duration that has more nanoseconds than fit is clamped`(_ duration: Duration) {
    #expect(duration.nanoseconds == .max)
    #expect((Duration.zero - duration).nanoseconds == .min)
  }

  @Test func `a time in the far future is centuries away, and one in the far past is now`() {
    let now = MonotonicTime.now
    let century: Int64 = 3_153_600_000_000_000_000
    let (first, last) = (Duration(attoseconds: .min), Duration(attoseconds: .max))
    #expect(MonotonicTime.after(last) > now + century)
    #expect(MonotonicTime.at(ContinuousClock.now + .seconds(Int64.max) + .seconds(Int64.max)) > now + century)
    for time in [MonotonicTime.after(first), MonotonicTime.at(ContinuousClock.now + first)] {
      #expect(time >= now)
      #expect(time <= MonotonicTime.now)
    }
    let past = MonotonicTime.presentAndTime(at: ContinuousClock.now + first)
    #expect(past.now == past.due)
  }
}
