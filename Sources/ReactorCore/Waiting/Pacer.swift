/// How long a consumer that caught up waits before it looks again. Belongs to one consumer.
///
/// A consumer on the producers' heels takes every cache line from them right after they took it back for the
/// next store, and each such transfer costs a core-to-core round trip. Waiting a little lets whole lines
/// fill: it made one ring three times as fast. The wait adapts: it doubles while the drains after it find
/// bursts, up to about 3 µs, and halves while they find a trickle, down to nothing. So a loaded ring is
/// emptied in bursts, and a quiet one costs no latency.
///
/// Not for a consumer whose latency matters more than its throughput.
public struct Pacer: Sendable {
  /// The wait never exceeds this, about 3 µs.
  public static var longest: Int { 128 }

  @usableFromInline var pauses = 0

  /// Waits for nothing until it has seen a burst.
  @inlinable
  public init() {}

  /// Waits. To be called after a drain that received `received` elements, more than none, and stopped at
  /// a slot that was not ready.
  @inlinable
  public mutating func wait(afterReceiving received: Int) {
    wait(afterReceiving: received, on: CurrentCore.self)
  }

  /// As ``wait(afterReceiving:)``, with the pauses of a given core.
  @inlinable
  public mutating func wait<C: Core>(afterReceiving received: Int, on _: C.Type) {
    if received >= 16 {
      pauses = min(pauses * 2 + 8, Self.longest)
    } else if received <= 4 {
      pauses /= 2
    }
    C.pause(times: pauses)
  }
}
