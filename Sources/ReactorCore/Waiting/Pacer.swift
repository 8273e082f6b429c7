/// Decides how long a consumer that has caught up waits before it polls again. One consumer uses it.
///
/// A consumer that follows its producers too closely takes every cache line from them right after they took it back for
/// the next store, and each such transfer costs a core-to-core round trip. If the consumer waits a little, whole lines
/// fill: this made one ring three times as fast. The wait adapts. It doubles, up to about 3 µs, while the drains after it
/// receive many elements, and halves, down to nothing, while they receive few. So a loaded ring is emptied in bursts, and
/// a quiet one has no additional latency.
///
/// Do not use it where the consumer's latency matters more than its throughput.
public struct Pacer: Sendable {
  /// The longest wait, in pauses; about 3 µs.
  public static var longest: Int { 128 }

  @usableFromInline var pauses = 0

  /// A pacer that does not wait until a drain received many elements.
  @inlinable
  public init() {}

  /// Waits. Call it after a drain that received `received` elements, at least one, and stopped at a slot that was not
  /// ready.
  @inlinable
  public mutating func wait(afterReceiving received: Int) {
    wait(afterReceiving: received, on: CurrentCore.self)
  }

  /// The same as ``wait(afterReceiving:)``, with the pauses of a given core.
  @inlinable
  package mutating func wait<C: Core>(afterReceiving received: Int, on _: C.Type) {
    if received >= 16 {
      pauses = min(pauses * 2 + 8, Self.longest)
    } else if received <= 4 {
      pauses /= 2
    }
    C.pause(times: pauses)
  }
}
