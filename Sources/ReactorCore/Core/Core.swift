/// A core: one implementation of the lock-free parts, from which the typed owners are built.
///
/// There are two. ``CCore`` is what users get; ``PureSwiftCore`` has the same algorithms written with
/// `Synchronization` atomics and no C, so that the two can be tested by the same tests and compared in
/// the same benchmark. Everything above is generic over the core and specialises in the caller's module.
///
/// The `Raw…` protocols are the seam between the typed owners and the cores. They deal in cursors and
/// raw memory; use ``Ring``, ``Lanes``, ``Trampoline`` and ``EventCount`` instead.
public protocol Core: Sendable {
  associatedtype Ring: RawRing
  associatedtype Lanes: RawLanes
  associatedtype Trampoline: RawTrampoline
  associatedtype EventCount: RawEventCount

  /// A number that no other living thread has; larger than 16, and its low four bits are zero.
  static var threadToken: UInt64 { get }

  /// Tells the processor that this is a spin loop; about 20 ns.
  static func pause()

  /// Between a publication and a look at what somebody else may have written before it ran
  /// ``heavyFence()``. Free of charge where the heavy fence does the work of both, or where there is none.
  static func lightFence()

  /// Whether there is such a pair.
  static var hasFences: Bool { get }

  /// The rare side of ``lightFence()``. Answers whether it ordered anything: in a core that has no such
  /// pair neither side does anything, and the caller must wait for the other side's publication instead.
  static func heavyFence() -> Bool
}

extension Core {
  /// Pauses `count` times.
  @inlinable
  public static func pause(times count: Int) {
    for _ in 0..<count { pause() }
  }
}
