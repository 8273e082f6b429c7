/// Which calls a ``CalledWaking`` has requested for timers and still expects, so that it requests no call twice.
///
/// A requested call cannot be cancelled. So the call for a later timer is still expected after an earlier timer came and ran.
///
/// A plain value, in which time is a number: what decides is ``request(for:at:)`` alone.
struct RequestedRounds: Sendable {
  /// How much too early a call may come, since the foreign loop has a clock of its own, or rounds delays. A call that is due
  /// sooner than that may have come already.
  static var tolerance: Int64 { 2_000_000 }
  /// More calls are not remembered: the latest is forgotten, and requested once more when the others have come. This bounds the
  /// memory, not the calls.
  static var capacity: Int { 64 }

  /// The times of the calls that are expected, the latest first: a call is requested only if it is earlier than all of them.
  private(set) var expected: [Int64] = []
  private var lastDeadline = Int64.min
  /// How often a call was requested for that deadline.
  private var attempts = 0

  /// Decides whether a call must be requested so that rounds run at `deadline`. In the time of ``MonotonicTime``.
  ///
  /// Close to the deadline it is not known whether the call for it has come too early. Then one more is requested; and if that
  /// is not known of this one either, a last one so late that it cannot come too early.
  ///
  /// - Returns: The time of the call to request; nil if one is expected in time.
  mutating func request(for deadline: Int64, at now: Int64) -> Int64? {
    while let next = expected.last, next <= now + Self.tolerance { expected.removeLast() }
    if deadline != lastDeadline { (lastDeadline, attempts) = (deadline, 0) }
    let time = attempts < 2 ? deadline : deadline + Self.tolerance
    if let next = expected.last, next <= time { return nil }
    attempts += 1
    if expected.count == Self.capacity { expected.removeFirst() }
    expected.append(time)
    return time
  }
}
