/// How long a consumer that caught up waits before it looks again; the why and the how stand in
/// `rr_pacer.h`. Belongs to one consumer.
public struct Pacer<C: Core>: Sendable {
  /// The wait never exceeds this, about 3 µs.
  public static var longest: Int { 128 }

  @usableFromInline var pauses = 0

  @inlinable
  public init() {}

  /// Waits. To be called after a drain that received `received` elements, more than none, and stopped at
  /// a slot that was not ready.
  @inlinable
  public mutating func wait(afterReceiving received: Int) {
    if received >= 16 {
      pauses = min(pauses * 2 + 8, Self.longest)
    } else if received <= 4 {
      pauses /= 2
    }
    C.pause(times: pauses)
  }
}
